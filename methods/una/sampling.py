"""Replacements drawn by relevance. V terms by rank, n draws; randomness comes from the generator alone."""

from __future__ import annotations

import numpy as np

from methods.una.terms import Ranking


def draw(
    ranking: Ranking, ranks: np.ndarray, rng: np.random.Generator, *, radius: int | None, other: bool
) -> np.ndarray:
    """Returns a replacement for each rank, drawn by relevance among the ranks within the radius.

    The window is cut at both ends of the ranking and holds the term itself, unless `other`. A window without
    relevance is drawn from uniformly, and so is the whole ranking for radius None.
    Source: UNA section 2, step 3. Shapes: ranks [n]; returns [n] integers.
    """
    uniform, size = rng.random(len(ranks)), len(ranking.terms)
    if radius is None:
        return _evenly(uniform, ranks, np.zeros_like(ranks), np.full_like(ranks, size), other)
    radius = min(radius, size)
    low, high = np.maximum(ranks - radius, 0), np.minimum(ranks + (radius + 1), size)
    below = ranking.mass.take(low)
    total = ranking.mass.take(high) - below
    if not other and ranking.relevance[-1] > 0:
        return _drawn(ranking, below + uniform * total, low, high)
    own = ranking.relevance[ranks] if other else np.zeros(len(ranks))
    total -= own
    targets = below + uniform * total
    targets += np.where(targets >= ranking.mass[ranks], own, 0.0)
    found = _drawn(ranking, targets, low, high)
    lost = other & (found == ranks)  # by rounding
    return np.where((total > 0) & ~lost, found, _evenly(uniform, ranks, low, high, other))


def draw_any(ranking: Ranking, count: int, rng: np.random.Generator) -> np.ndarray:
    """Returns terms of the whole ranking in proportion to their relevance above the lowest; [count] ranks.

    All equally relevant, every term is as likely. Source: the released code's fallback for a sentence it
    could not change.
    """
    above = np.cumsum(ranking.relevance - ranking.relevance[-1])
    if above[-1] == 0:
        return rng.integers(0, len(above), size=count)
    return np.searchsorted(above, rng.random(count) * above[-1], side="right")


def _evenly(
    uniform: np.ndarray, ranks: np.ndarray, low: np.ndarray, high: np.ndarray, other: bool
) -> np.ndarray:
    drawn = low + (uniform * (high - low - other)).astype(ranks.dtype)
    return drawn + (other & (drawn >= ranks))


def _drawn(ranking: Ranking, targets: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Returns the term that each target falls on: the last rank whose mass is at most the target.

    It is moved into its window where rounding at an end put it beside.
    """
    found = ranking.mass.searchsorted(targets, side="right") - 1
    return np.minimum(np.maximum(found, low), high - 1)
