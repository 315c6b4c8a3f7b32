"""Which words of a sentence are replaced, and by what: the paper's steps 2 and 3, a batch at a time.

Legend: B sentences, t word positions of all of them together, V terms by rank. Randomness comes from the
given generator alone. A sentence may have no word; every other array is [t], sentence after sentence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from methods.una.sampling import draw
from methods.una.terms import Ranking, Sentences

SHORTEST = 3
"""Words below which random selection leaves a sentence alone, as the released operator did."""


class Positions(NamedTuple):
    """The word positions of some sentences: the rank of each word's term, and its score above the lowest.

    Shapes: ranks [t] int32, ratios [t] float32, ends [B + 1] int64 with 0 first.
    Facts: the ratios of a sentence have mean 1 (`unit` position) and minimum 0, or are all 0.
    """

    ranks: np.ndarray
    ratios: np.ndarray
    ends: np.ndarray


class Corruption(NamedTuple):
    """Corrupted sentences.

    ranks: the rank of every word after replacement [t]; replaced: positions that drew a replacement, which
    may be the word itself [t] bool; repaired: sentences that came out unchanged and had a word changed after
    all [B] bool.
    """

    ranks: np.ndarray
    replaced: np.ndarray
    repaired: np.ndarray


def take(sentences: Sentences, indices: np.ndarray) -> Positions:
    """Returns the word positions of some sentences of a corpus, in the order of `indices` [B].

    Facts: a sentence's scores are the same, to the last bit, whatever batch it appears in.
    """
    starts = sentences.ends.take(indices)
    lengths = sentences.ends.take(indices + 1) - starts
    ends = np.zeros(len(indices) + 1, dtype=np.int64)
    lengths.cumsum(out=ends[1:])
    flat = (starts - ends[:-1]).repeat(lengths)
    flat += np.arange(ends[-1])
    ranks = sentences.ranks.take(flat)
    return Positions(ranks, sentences.ratios(ranks, sentences.counts.take(flat), lengths), ends)


def probabilities(sentences: Positions, magnitude: float) -> np.ndarray:
    """Returns the probability that each word is replaced: min(beta a_i / C, 1), of each top word 1; [t].

    Of equal top words the first is certain, and none if all scores of the sentence are equal.
    Source: UNA section 2, step 2. Facts: before both their mean is beta and their minimum 0.
    """
    found = np.minimum(np.multiply(sentences.ratios, magnitude, dtype=np.float64), 1.0)
    top = top_positions(sentences)
    found[top[sentences.ratios[top] > 0]] = 1.0
    return found


def top_positions(sentences: Positions) -> np.ndarray:
    """Returns the first position of the highest score of every sentence that has a word."""
    lengths = np.diff(sentences.ends)
    lengths = lengths[lengths > 0]
    highest = np.repeat(np.maximum.reduceat(sentences.ratios, _starts(lengths)), lengths)
    candidates = np.flatnonzero(sentences.ratios == highest)
    owner = np.repeat(np.arange(len(lengths)), lengths)[candidates]
    return candidates[np.diff(owner, prepend=-1) > 0]


def select(sentences: Positions, rng: np.random.Generator, *, by: str, magnitude: float) -> np.ndarray:
    """Returns which words are replaced, each drawn on its own; [t] bool.

    by: `tfidf` uses `probabilities`; `random` the magnitude for every word of a sentence of SHORTEST or more.
    """
    uniform = rng.random(len(sentences.ranks))
    if by == "tfidf":
        return uniform < probabilities(sentences, magnitude)
    lengths = np.diff(sentences.ends)
    return (uniform < magnitude) & np.repeat(lengths >= SHORTEST, lengths)


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
    """Returns the sentences with some words replaced; as many words, the others untouched where they stand.

    repair: a sentence whose words are all as before has its top word replaced by another term.
    """
    replaced = select(sentences, rng, by=by, magnitude=magnitude)
    ranks, chosen = sentences.ranks.copy(), replaced.nonzero()[0]
    ranks[chosen] = draw(ranking, ranks.take(chosen), rng, radius=radius, other=False)
    repaired = np.zeros(len(sentences.ends) - 1, dtype=bool)
    if repair:
        lengths = np.diff(sentences.ends)
        changed = np.logical_or.reduceat(ranks != sentences.ranks, _starts(lengths[lengths > 0]))
        repaired[lengths > 0] = ~changed
    if repaired.any():
        top = top_positions(sentences)[~changed]
        ranks[top] = draw(ranking, ranks[top], rng, radius=radius, other=True)
    return Corruption(ranks, replaced, repaired)


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.cumsum(lengths) - lengths
