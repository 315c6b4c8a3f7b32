"""Corrupted copies of sentences: selection and replacement of words (the paper's steps 2 and 3).

Legend: B sentences, t word positions of all of them together, V terms by rank, n draws. Randomness comes only
from the given generator. A sentence may have no word; every other array is [t], sentence after sentence.
"""

from collections.abc import Sequence
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from methods.core.corpus import positions_by_index
from methods.core.rows import Row
from methods.una.config import UNAConfig
from methods.una.terms import Positions, Ranking, count_terms, matched, take

SHORTEST = 3
"""Fewest words of a sentence for random selection, as in the released code."""


def probabilities(sentences: Positions, magnitude: float) -> np.ndarray:
    """Returns the probability that each word is replaced: min(beta a_i / C, 1), of each top word 1; [t].

    Of equal top words only the first has probability 1, and none if all scores of the sentence are equal.
    Source: UNA section 2, step 2.
    Facts: before cap and top word their mean is beta and their minimum 0.
    """
    values = np.minimum(np.multiply(sentences.ratios, magnitude, dtype=np.float64), 1.0)
    top = top_positions(sentences)
    values[top[sentences.ratios[top] > 0]] = 1.0
    return values


def top_positions(sentences: Positions) -> np.ndarray:
    """Returns the first position of the highest score of every sentence with words."""
    lengths = np.diff(sentences.ends)
    lengths = lengths[lengths > 0]
    highest = np.repeat(np.maximum.reduceat(sentences.ratios, _starts(lengths)), lengths)
    candidates = np.flatnonzero(sentences.ratios == highest)
    owner = np.repeat(np.arange(len(lengths)), lengths)[candidates]
    return candidates[np.diff(owner, prepend=-1) > 0]


def select(sentences: Positions, rng: np.random.Generator, *, by: str, magnitude: float) -> np.ndarray:
    """Returns the mask of words to replace, drawn independently; [t] bool.

    by: `tfidf` uses `probabilities`; `random` uses `magnitude` for every word of sentences with at least
    SHORTEST words.
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
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the sentences with some words replaced; the number and order of words stay the same.

    Returns the new ranks of all words [t], the mask of replaced words, some by themselves [t], and the mask
    of unchanged sentences that were repaired [B].
    repair: in a sentence that stayed unchanged, the top word is replaced by another term.
    """
    replaced = select(sentences, rng, by=by, magnitude=magnitude)
    ranks, chosen = sentences.ranks.copy(), replaced.nonzero()[0]
    ranks[chosen] = draw_replacements(ranking, ranks.take(chosen), rng, radius=radius, other=False)
    repaired = np.zeros(len(sentences.ends) - 1, dtype=bool)
    if repair:
        lengths = np.diff(sentences.ends)
        changed = np.logical_or.reduceat(ranks != sentences.ranks, _starts(lengths[lengths > 0]))
        repaired[lengths > 0] = ~changed
    if repaired.any():
        top = top_positions(sentences)[~changed]
        ranks[top] = draw_replacements(ranking, ranks[top], rng, radius=radius, other=True)
    return ranks, replaced, repaired


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.cumsum(lengths) - lengths


def draw_replacements(
    ranking: Ranking, ranks: np.ndarray, rng: np.random.Generator, *, radius: int | None, other: bool
) -> np.ndarray:
    """Returns a replacement for each rank, drawn by relevance among the ranks within the radius.

    The window is cut at both ends of the ranking and includes the term itself, unless `other`. Draws are
    uniform from a window without relevance, and from the whole ranking for radius None.
    Source: UNA section 2, step 3.
    Shapes: ranks [n]; returns [n] integers.
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
    own_relevance = ranking.relevance[ranks] if other else np.zeros(len(ranks))
    total -= own_relevance
    targets = below + uniform * total
    targets += np.where(targets >= ranking.mass[ranks], own_relevance, 0.0)
    ranks_drawn = _drawn(ranking, targets, low, high)
    lost = other & (ranks_drawn == ranks)  # by rounding
    return np.where((total > 0) & ~lost, ranks_drawn, _evenly(uniform, ranks, low, high, other))


def draw_any(ranking: Ranking, count: int, rng: np.random.Generator) -> np.ndarray:
    """Returns random terms in proportion to their relevance above the lowest; [count] ranks.

    Uniform if all terms are equally relevant.
    Source: the released code's fallback for a sentence it cannot change.
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
    """Returns the term of each target: the last rank whose mass is at most the target.

    Ranks that rounding put outside their window are moved to its end.
    """
    ranks = ranking.mass.searchsorted(targets, side="right") - 1
    return np.minimum(np.maximum(ranks, low), high - 1)


class Negatives:
    """Writes corrupted copies of rows of the corpus it was built on."""

    def __init__(self, rows: Sequence[Row], config: UNAConfig, folder: Path | None = None) -> None:
        """folder: for the words of a corpus, kept for other runs; None to keep none."""
        self.config = config
        further = (
            chain.from_iterable(row.augmentations for row in rows)
            if config.statistics == "corpus-and-paraphrases"
            else ()
        )
        texts = [*(row.text for row in rows), *further]
        self.ranking, self.sentences = count_terms(
            texts, sentences=len(rows), unit=config.unit, folder=folder
        )
        self.documents = positions_by_index(rows)

    def write(self, rows: Sequence[Row], rng: np.random.Generator) -> tuple[list[str], dict[str, float]]:
        """Returns the copies of a batch [B], a pure function of the rows and the generator.

        Also returns statistics, as shares of the words or of the sentences.
        """
        config = self.config
        sentences = take(self.sentences, self.documents[[row.index for row in rows]])
        ranks, replaced, repaired = corrupt(
            sentences,
            self.ranking,
            rng,
            by=config.select,
            magnitude=config.magnitude,
            radius=config.radius if config.replace == "window" else None,
            repair=config.unchanged == "repair",
        )
        texts = self._texts(rows, sentences, ranks)
        single = self._single_terms(rows, texts, rng)
        shares = {
            "replaced": float(replaced.mean()) if len(sentences.ranks) else 0.0,
            "repaired": float(repaired.mean()),
            "single_term": single / len(rows),
        }
        return texts, shares

    def _texts(self, rows: Sequence[Row], sentences: Positions, ranks: np.ndarray) -> list[str]:
        terms, bounds = self.ranking.terms, list(pairwise(sentences.ends.tolist()))
        after = [terms[rank] for rank in ranks.tolist()]
        if self.config.style == "lower":
            # in lower case with single blanks, as in the released code
            return [" ".join(after[start:end]) for start, end in bounds]
        before = [terms[rank] for rank in sentences.ranks.tolist()]
        return [
            matched(row.text, before[start:end], after[start:end])
            for row, (start, end) in zip(rows, bounds, strict=True)
        ]

    def _single_terms(self, rows: Sequence[Row], texts: list[str], rng: np.random.Generator) -> int:
        """Replaces copies by a single random term if needed; returns their number.

        Needed for sentences without words and, with `unchanged: single-term`, for copies equal to their row.
        """
        unchanged = self.config.unchanged == "single-term"
        short = [
            index
            for index, (row, text) in enumerate(zip(rows, texts, strict=True))
            if not text.strip() or (unchanged and text == row.text)
        ]
        if short:
            for index, rank in zip(short, draw_any(self.ranking, len(short), rng), strict=True):
                texts[index] = self.ranking.terms[rank]
        return len(short)
