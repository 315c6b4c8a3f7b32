"""Words of sentences with their TF-IDF scores over a corpus and their ranks.

Documents are sentences, split into words by NLTK's word tokenizer.
Legend: N documents, T word positions of all of them together, V distinct terms. Array sizes grow with T, N or
V, not with N times V. Terms are first numbered in order of appearance, then by rank. Scores are computed per
batch from ranks and word counts.
"""

from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

from methods.core.corpus import kept_array, key_of
from methods.core.errors import InputError
from methods.core.files import sha256_of

CHUNK = 1_000
"""Documents per pass of counting; bounds the temporary arrays."""

DOTTED_I = "\u0130"
"""The only letter that is longer in lower case, which would shift the positions of words."""

QUOTES = ('"', "``", "''")
"""Forms of a double quotation mark in a text; the word tokenizer writes the latter two."""


def lower(text: str) -> str:
    """Returns the text in lower case, with its length unchanged."""
    return text.replace(DOTTED_I, "I").lower()


def words(text: str) -> list[str]:
    """Returns the lower-cased word tokens of a sentence, with separate punctuation.

    Source: NLTK's `word_tokenize`, which the released code calls, without its sentence splitting.
    """
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return list(NLTKWordTokenizer().tokenize(lower(text)))


def matched(text: str, before: Sequence[str], after: Sequence[str]) -> str:
    """Returns `text` with each word of `before` that differs in `after` replaced in place.

    The new word has the case of the old one: capitals, one capital, or none. Everything else stays as
    written, so a cased tokenizer cannot recognise the copy by its style.
    Shapes: before, after have the same number of words; `before` are the word tokens of the lower-cased text,
    in order.
    """
    lowered, written, end = lower(text), [], 0
    for old, new in zip(before, after, strict=True):
        start, stop = find_word(lowered, old, end)
        kept = text[start:stop]
        written += [text[end:start], kept if new == old else in_case_of(kept, new)]
        end = stop
    return "".join([*written, text[end:]])


def find_word(lowered: str, word: str, start: int) -> tuple[int, int]:
    """Returns start and end of the next occurrence of a word token; a quote matches any quotation mark."""
    forms = QUOTES if word in QUOTES else (word,)
    begin, form = min((begin, form) for form in forms if (begin := lowered.find(form, start)) >= 0)
    return begin, begin + len(form)


def in_case_of(old: str, new: str) -> str:
    """Returns the lower-case word `new` in the case of `old`: capitals, one capital or lower case."""
    if new in QUOTES:
        return '"'
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


class Ranking(NamedTuple):
    """The terms of a corpus by their largest TF-IDF, highest first; ties by first appearance.

    Shapes: terms V strings, relevance [V] largest TF-IDF, idf [V], mass [V + 1] the sums of the first 0, 1,
    ..., V relevances.
    """

    terms: list[str]
    relevance: np.ndarray
    idf: np.ndarray
    mass: np.ndarray


class Sentences(NamedTuple):
    """The words of N documents by rank, with the counts behind their scores.

    Shapes: ranks [T] int32, counts [T] int32 of the word in its sentence, ends [N + 1] int64 with 0 first,
    idf [V]. unit: of a sentence's mean score.
    """

    ranks: np.ndarray
    counts: np.ndarray
    ends: np.ndarray
    idf: np.ndarray
    unit: str


class Positions(NamedTuple):
    """The word positions of some sentences: the rank of each word, and its score above the lowest.

    Shapes: ranks [t] int32, ratios [t] float32, ends [B + 1] int64 with 0 first.
    Facts: the ratios of a sentence have mean 1 (`unit` position) and minimum 0, or are all 0.
    """

    ranks: np.ndarray
    ratios: np.ndarray
    ends: np.ndarray


class Words(NamedTuple):
    """The words of N texts: distinct terms [V] by first appearance, flat [T] their numbers, ends [N + 1]."""

    terms: list[str]
    flat: np.ndarray
    ends: np.ndarray


def words_of(texts: Sequence[str], folder: Path | None = None) -> Words:
    """Returns the words of each text, cached in `folder` for other runs unless it is None."""
    if folder is None:
        return _unpacked(_split(texts))
    made_by = f"words {version('nltk')} {sha256_of(Path(__file__))}"
    return _unpacked(kept_array(folder, key_of(texts, made_by), partial(_split, texts)))


def _split(texts: Sequence[str]) -> np.ndarray:
    """Returns one int32 array: N, T, the number of bytes of all terms, and then these parts."""
    number: dict[str, int] = {}
    numbers, lengths = array("i"), array("i")
    for text in texts:
        tokens = words(text)
        numbers.extend([number.setdefault(token, len(number)) for token in tokens])
        lengths.append(len(tokens))
    written = "\n".join(number).encode(errors="surrogatepass")
    head = array("i", [len(lengths), len(numbers), len(written)])
    padded = np.frombuffer(written.ljust(-(-len(written) // 4) * 4, b"\0"), dtype=np.int32)
    return np.concatenate([np.asarray(head), np.asarray(lengths), np.asarray(numbers), padded])


def _unpacked(whole: np.ndarray) -> Words:
    count, total, size = whole[:3].tolist()
    lengths, flat, padded = np.split(whole[3:], [count, count + total])
    written = padded.tobytes()[:size].decode(errors="surrogatepass")
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return Words(written.split("\n") if size else [], flat, ends)


def count_terms(
    texts: Sequence[str], *, sentences: int, unit: str, folder: Path | None = None
) -> tuple[Ranking, Sentences]:
    """Returns the terms of a corpus by their largest TF-IDF, and the words of its first `sentences` texts.

    A text without any word is an empty document. folder: as of `words_of`.
    Source: UNA section 2; tf = ln(1 + count / length), idf = ln(N / documents with the term), unsmoothed.
    Errors: InputError if every TF-IDF is 0 or there is only one term.
    """
    terms, flat, ends = words_of(texts, folder)
    size = len(terms)
    counts, frequency = _occurrences(flat, ends, size)
    idf = np.log((len(ends) - 1) / np.maximum(frequency, 1))
    relevance = np.zeros(size)
    for part in _parts(ends):
        positions = slice(part[0], part[-1])
        np.maximum.at(
            relevance, flat[positions], _frequencies(counts[positions], np.diff(part)) * idf[flat[positions]]
        )
    if size < 2 or not relevance.any():
        raise InputError(
            f"corpus of {len(ends) - 1} sentences and {size} terms without differences in TF-IDF; use a "
            f"larger corpus"
        )
    order = np.argsort(-relevance, kind="stable").astype(np.int32)
    rank = np.empty(size, dtype=np.int32)
    rank[order] = np.arange(size, dtype=np.int32)
    mass = np.concatenate([[0.0], np.cumsum(relevance[order])])
    ranking = Ranking([terms[term] for term in order.tolist()], relevance[order], idf[order], mass)
    ends = ends[: sentences + 1]
    return ranking, Sentences(rank[flat[: ends[-1]]], counts[: ends[-1]].copy(), ends, ranking.idf, unit)


def take(sentences: Sentences, indices: np.ndarray) -> Positions:
    """Returns the word positions of some sentences of a corpus, in the order of `indices` [B].

    Facts: a sentence's scores are bit-identical in every batch.
    """
    starts = sentences.ends.take(indices)
    lengths = sentences.ends.take(indices + 1) - starts
    ends = np.zeros(len(indices) + 1, dtype=np.int64)
    lengths.cumsum(out=ends[1:])
    flat = (starts - ends[:-1]).repeat(lengths)
    flat += np.arange(ends[-1])
    ranks, counts = sentences.ranks.take(flat), sentences.counts.take(flat)
    scores = _frequencies(counts, lengths)
    scores *= sentences.idf.take(ranks)
    weights = 1 / counts if sentences.unit == "type" else None
    return Positions(ranks, above_lowest(scores, lengths, weights).astype(np.float32), ends)


def above_lowest(scores: np.ndarray, lengths: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Returns a_i / C of every position: its score above its document's lowest, over the mean of these.

    Equal scores give 0. `weights` lets a term repeated n times count once.
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


def _occurrences(flat: np.ndarray, ends: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns each position's term count in its document [T], and each term's document count [V]."""
    counts, frequency = np.empty(len(flat), dtype=np.int32), np.zeros(size, dtype=np.int64)
    for part in _parts(ends):
        ranks, lengths = flat[part[0] : part[-1]], np.diff(part)
        key = np.repeat(np.arange(len(lengths)), lengths) * size + ranks
        _, first, inverse, times = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        counts[part[0] : part[-1]] = times[inverse]
        frequency += np.bincount(ranks[first], minlength=size)
    return counts, frequency


def _parts(ends: np.ndarray) -> Iterator[np.ndarray]:
    """Yields the ends of chunks of CHUNK documents, with the start of the first."""
    for start in range(0, len(ends) - 1, CHUNK):
        yield ends[start : start + CHUNK + 1]


def _frequencies(counts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    return np.log1p(counts / np.repeat(lengths, lengths))
