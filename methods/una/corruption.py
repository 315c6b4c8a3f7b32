"""Which words of a sentence are replaced, and by what: the paper's steps 2 and 3, a batch at a time.

Legend: B sentences, t word positions of all of them together, V terms by rank. Randomness comes from the
given generator alone. A sentence may have no word; every other array is [t], sentence after sentence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from methods.una.terms import Positions, Ranking

SHORTEST = 3
"""Words below which random selection leaves a sentence alone, as the released operator did."""


class Corruption(NamedTuple):
    """Corrupted sentences.

    ranks: the rank of every word after replacement [t]; replaced: positions that drew a replacement, which
    may be the word itself [t] bool; repaired: sentences that came out unchanged and had a word changed after
    all [B] bool.
    """

    ranks: np.ndarray
    replaced: np.ndarray
    repaired: np.ndarray


def take(positions: Positions, places: np.ndarray) -> Positions:
    """Returns the word positions of some documents, in the order of `places` [B]."""
    starts = positions.ends[places]
    lengths = positions.ends[places + 1] - starts
    ends = np.concatenate([[0], np.cumsum(lengths)])
    flat = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
    return Positions(positions.ranks[flat], positions.ratios[flat], ends)


def probabilities(sentences: Positions, magnitude: float) -> np.ndarray:
    """Returns the probability that each word is replaced: min(beta a_i / C, 1); [t].

    Where none reaches 1, the top word's is set to 1: the first of equal ones, and none if all scores are
    equal. Source: UNA section 2, step 2.
    Facts: before cap and forcing their mean is beta and their minimum 0.
    """
    capped = np.minimum(magnitude * sentences.ratios.astype(np.float64), 1.0)
    top, lengths = top_positions(sentences)
    forced = top[(np.maximum.reduceat(capped, _starts(lengths)) < 1) & (sentences.ratios[top] > 0)]
    capped[forced] = 1.0
    return capped


def top_positions(sentences: Positions) -> tuple[np.ndarray, np.ndarray]:
    """Returns the first position of the highest score, and the length, of every sentence that has a word."""
    lengths = np.diff(sentences.ends)
    lengths = lengths[lengths > 0]
    highest = np.repeat(np.maximum.reduceat(sentences.ratios, _starts(lengths)), lengths)
    candidates = np.flatnonzero(sentences.ratios == highest)
    owner = np.repeat(np.arange(len(lengths)), lengths)[candidates]
    return candidates[np.diff(owner, prepend=-1) > 0], lengths


def select(sentences: Positions, rng: np.random.Generator, *, by: str, magnitude: float) -> np.ndarray:
    """Returns which words are replaced, each drawn on its own; [t] bool.

    by: `tfidf` uses `probabilities`; `random` the magnitude for every word of a sentence of SHORTEST or more.
    """
    uniform = rng.random(len(sentences.ranks))
    if by == "tfidf":
        return uniform < probabilities(sentences, magnitude)
    lengths = np.diff(sentences.ends)
    return (uniform < magnitude) & np.repeat(lengths >= SHORTEST, lengths)


def draw(
    ranking: Ranking, ranks: np.ndarray, rng: np.random.Generator, *, radius: int | None, other: bool
) -> np.ndarray:
    """Returns a replacement for each rank, drawn by relevance among the ranks within the radius.

    The window is cut at both ends of the ranking and holds the term itself, unless `other`. A window without
    relevance is drawn from uniformly, and so is the whole ranking for radius None.
    Source: UNA section 2, step 3. Shapes: ranks [n]; returns [n] int64.
    """
    ranks = ranks.astype(np.int64)
    size = len(ranking.terms)
    low = np.zeros_like(ranks) if radius is None else np.maximum(ranks - radius, 0)
    high = np.full_like(ranks, size) if radius is None else np.minimum(ranks + radius + 1, size)
    uniform = rng.random(len(ranks))
    drawn = low + (uniform * (high - low - other)).astype(np.int64)
    drawn += other & (drawn >= ranks)
    if radius is None:
        return drawn
    own = ranking.relevance[ranks] if other else np.zeros(len(ranks))
    total = ranking.mass[high] - ranking.mass[low] - own
    target = ranking.mass[low] + uniform * total
    target += np.where(target >= ranking.mass[ranks], own, 0.0)
    weighted = np.clip(np.searchsorted(ranking.mass, target, side="right") - 1, low, high - 1)
    lost = other & (weighted == ranks)  # by rounding
    return np.where((total > 0) & ~lost, weighted, drawn)


def corrupt(
    sentences: Positions,
    ranking: Ranking,
    rng: np.random.Generator,
    *,
    by: str,
    magnitude: float,
    radius: int | None,
    repair: bool,
) -> Corruption:
    """Returns the sentences with some words replaced; as many words, the others untouched and in place.

    repair: a sentence whose words are all as before has its top word replaced by another term.
    """
    replaced = select(sentences, rng, by=by, magnitude=magnitude)
    ranks = sentences.ranks.astype(np.int64)
    ranks[replaced] = draw(ranking, ranks[replaced], rng, radius=radius, other=False)
    repaired = np.zeros(len(sentences.ends) - 1, dtype=bool)
    if repair:
        lengths = np.diff(sentences.ends)
        changed = np.logical_or.reduceat(ranks != sentences.ranks, _starts(lengths[lengths > 0]))
        repaired[lengths > 0] = ~changed
    if repaired.any():
        top = top_positions(sentences)[0][~changed]
        ranks[top] = draw(ranking, ranks[top], rng, radius=radius, other=True)
    return Corruption(ranks, replaced, repaired)


def draw_any(ranking: Ranking, count: int, rng: np.random.Generator) -> np.ndarray:
    """Returns terms of the whole ranking in proportion to their relevance above the lowest; [count] ranks.

    All equally relevant, every term is as likely. Source: the released code's fallback for a sentence it
    could not change.
    """
    above = np.cumsum(ranking.relevance - ranking.relevance[-1])
    if above[-1] == 0:
        return rng.integers(0, len(above), size=count)
    return np.searchsorted(above, rng.random(count) * above[-1], side="right")


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.cumsum(lengths) - lengths
