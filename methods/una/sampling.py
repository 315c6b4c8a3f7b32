"""Replacements drawn by relevance: prefix sums, and a table that finds most draws without a search.

Legend: V terms by rank, K buckets of the table, n draws. Randomness comes from the given generator alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from methods.una.terms import Ranking

BUCKETS = 8
"""Buckets per term: a bucket takes 4 bytes, and at most one draw in so many needs the search."""

SEVERAL = -1
"""Entry of a bucket in which more than one term begins or ends."""


class PrefixSums(NamedTuple):
    """The sums of the first 0, 1, ..., V weights, divided into K buckets of equal width.

    Shapes: sums [V + 1], guide [K + 1] int32: the one term that a bucket lies in, or SEVERAL.
    """

    sums: np.ndarray
    guide: np.ndarray

    def locate(self, targets: np.ndarray) -> np.ndarray:
        """Returns the term that each target falls on: the last i with sums[i] <= target; [n] int32.

        Facts: a search in `sums`, exactly, as one monotone step finds the bucket of a target and of a sum.
        """
        found = self.guide.take(bucket_of(targets, self.sums[-1], len(self.guide) - 1))
        rest = np.flatnonzero(found == SEVERAL)
        found[rest] = self.sums.searchsorted(targets.take(rest), side="right") - 1
        return found


def prefix_sums(weights: np.ndarray) -> PrefixSums:
    """Returns the sums of weights [V] that are at least 0 and not all 0."""
    sums = np.zeros(len(weights) + 1)
    np.cumsum(weights, out=sums[1:])
    size = BUCKETS * len(weights)
    ends = np.bincount(bucket_of(sums, sums[-1], size), minlength=size + 1)
    guide = np.cumsum(ends, dtype=np.int32) - np.int32(1)
    guide[ends > 0] = SEVERAL
    return PrefixSums(sums, guide)


def bucket_of(targets: np.ndarray, total: float, size: int) -> np.ndarray:
    """Returns the number of the bucket that a target lies in, `size` for the total itself."""
    return (targets * (size / total)).astype(np.intp)


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
    sums = ranking.mass.sums
    below = sums.take(low)
    total = sums.take(high) - below
    if not other and ranking.relevance[-1] > 0:
        return _within(low, high, ranking.mass.locate(below + uniform * total))
    own = ranking.relevance[ranks] if other else np.zeros(len(ranks))
    total -= own
    targets = below + uniform * total
    targets += np.where(targets >= sums[ranks], own, 0.0)
    found = _within(low, high, ranking.mass.locate(targets))
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


def _within(low: np.ndarray, high: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Returns what was found, moved into its window where rounding at an end put it beside."""
    return np.minimum(np.maximum(found, low), high - 1)
