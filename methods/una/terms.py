"""TF-IDF over a corpus whose documents are sentences: how informative each word is, and where it ranks.

Legend: N documents, T word positions of all of them together, V distinct terms. Every array is in proportion
to T or V; nothing is as large as N times V. Terms are first numbered in order of appearance and then by rank.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from methods.core.errors import InputError
from methods.una.prefix_sums import PrefixSums, prefix_sums
from methods.una.words import words

CHUNK = 5_000
"""Documents whose words are counted at once; bounds the temporary arrays."""


class Documents(NamedTuple):
    """A tokenised corpus: terms by first appearance, their numbers in order, and where documents end.

    Shapes: terms V strings, flat [T] int32, ends [N + 1] int64 with 0 first.
    """

    terms: list[str]
    flat: np.ndarray
    ends: np.ndarray


class Ranking(NamedTuple):
    """The terms of a corpus in the order of their largest TF-IDF, highest first; equals by first appearance.

    Shapes: terms [V] strings, order [V] the number that each had by appearance, relevance [V] largest TF-IDF,
    idf [V], mass the prefix sums of the relevance.
    """

    terms: np.ndarray
    order: np.ndarray
    relevance: np.ndarray
    idf: np.ndarray
    mass: PrefixSums


class Positions(NamedTuple):
    """What corruption needs of each word position: the rank of its term, and its score above the lowest.

    Shapes: ranks [T] int32, ratios [T] float32, ends [N + 1] int64 with 0 first.
    Facts: the ratios of a document have mean 1 (`unit` position) and minimum 0, or are all 0.
    """

    ranks: np.ndarray
    ratios: np.ndarray
    ends: np.ndarray


def read_documents(texts: Iterable[str]) -> Documents:
    """Returns the tokenised texts; one without any word is an empty document."""
    number: dict[str, int] = {}
    flat, lengths = array("i"), array("i", [0])
    for text in texts:
        tokens = words(text)
        flat.extend([number.setdefault(token, len(number)) for token in tokens])
        lengths.append(len(tokens))
    return Documents(list(number), np.asarray(flat), np.cumsum(lengths))


def rank_terms(documents: Documents) -> Ranking:
    """Returns the terms by their largest TF-IDF in any document.

    Source: UNA section 2; tf = ln(1 + count / length), idf = ln(N / documents with the term), unsmoothed.
    Errors: InputError if every TF-IDF is 0 or there is one term only: nothing to choose by, or from.
    """
    size = len(documents.terms)
    frequency = np.zeros(size, dtype=np.int64)
    for part in _parts(documents):
        frequency += np.bincount(part.flat[part.first], minlength=size)
    idf = np.log((len(documents.ends) - 1) / np.maximum(frequency, 1))
    relevance = np.zeros(size)
    for part in _parts(documents):
        np.maximum.at(relevance, part.flat, part.frequency() * idf[part.flat])
    if size < 2 or not relevance.any():
        raise InputError(
            f"corpus of {len(documents.ends) - 1} sentences and {size} terms without differences in TF-IDF, "
            "expected terms that some sentences have and others lack; train on a larger corpus"
        )
    order = np.argsort(-relevance, kind="stable")
    terms = np.array(documents.terms, dtype=object)[order]
    return Ranking(terms, order, relevance[order], idf[order], prefix_sums(relevance[order]))


def score_positions(documents: Documents, ranking: Ranking, *, count: int, unit: str) -> Positions:
    """Returns rank and score of every word position of the first `count` documents.

    The score of position i is a_i / C: a_i its TF-IDF less the lowest of its sentence, C the mean of all a
    over the positions (`unit` position, released code) or over the distinct terms (`unit` type, paper).
    The ranks are written over `documents.flat`, which is used up: a copy would be the largest array of all.
    """
    rank = np.empty(len(ranking.order), dtype=np.int32)
    rank[ranking.order] = np.arange(len(rank), dtype=np.int32)
    ends = documents.ends[: count + 1]
    ratios = np.empty(ends[-1], dtype=np.float32)
    start = 0
    for part in _parts(documents, count):
        end = start + len(part.flat)
        part.flat[:] = rank[part.flat]
        scores = part.frequency() * ranking.idf[part.flat]
        ratios[start:end] = above_lowest(scores, part.lengths, 1 / part.counts if unit == "type" else None)
        start = end
    ranks = documents.flat[: ends[-1]]
    return Positions(ranks if len(ranks) == len(documents.flat) else ranks.copy(), ratios, ends)


def above_lowest(scores: np.ndarray, lengths: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Returns a_i / C of every position: its score less its document's lowest, divided by the mean of that.

    Equal scores give 0. `weights` counts a position less, so that a term repeated n times counts once.
    Shapes: scores [T], lengths [N] each at least 0, weights [T] or None; returns [T].
    """
    if not len(scores):
        return scores
    lengths = lengths[lengths > 0]
    starts = np.cumsum(lengths) - lengths
    above = scores - np.repeat(np.minimum.reduceat(scores, starts), lengths)
    if weights is None:
        mean = np.add.reduceat(above, starts) / lengths
    else:
        mean = np.add.reduceat(above * weights, starts) / np.add.reduceat(weights, starts)
    mean = np.repeat(mean, lengths)
    return np.divide(above, mean, out=np.zeros_like(above), where=mean > 0)


class _Part(NamedTuple):
    """Some documents: term numbers [t], counts of each position's term in its document, first occurrences."""

    flat: np.ndarray
    counts: np.ndarray
    first: np.ndarray
    lengths: np.ndarray

    def frequency(self) -> np.ndarray:
        return np.log1p(self.counts / np.repeat(self.lengths, self.lengths))


def _parts(documents: Documents, count: int | None = None) -> Iterator[_Part]:
    count = len(documents.ends) - 1 if count is None else count
    for start in range(0, count, CHUNK):
        ends = documents.ends[start : min(start + CHUNK, count) + 1]
        flat, lengths = documents.flat[ends[0] : ends[-1]], np.diff(ends)
        key = np.repeat(np.arange(len(lengths)), lengths) * len(documents.terms) + flat
        _, first, inverse, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        yield _Part(flat, counts[inverse], first, lengths)
