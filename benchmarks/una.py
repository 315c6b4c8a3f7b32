"""UNA: term statistics and corruption of whole batches, and the same one word at a time.

The corpus is repeated as often as needed; in every copy a share of its rare words is renamed, so that the
vocabulary grows as that of a larger corpus would. Both forms are first checked to agree under equal random
numbers.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, islice, pairwise
from zlib import crc32

import numpy as np

from benchmarks.material import sentences
from benchmarks.measurement import Disagreement, Form, Result, compare
from methods.una.corruption import Corruption, corrupt, probabilities, take
from methods.una.style import spaced
from methods.una.terms import Documents, Positions, Ranking, rank_terms, read_documents, score_positions

BATCH, MAGNITUDE, RADIUS = 64, 0.5, 4000
TARGET = 100.0
CHECKED = 20 * BATCH
"""Sentences on which the two forms must agree, word for word."""


def renamed(lines: list[str], share: float) -> Iterator[str]:
    """Yields the lines over and over; in copy c a word seen at most twice may become `word` + `xc`."""
    counts = Counter(word for line in lines for word in line.split())
    rare = {word for word, count in counts.items() if count <= 2 and word.isalpha()}
    copy = 0
    while True:
        for line in lines:
            yield " ".join(
                f"{word}x{copy}"
                if copy and word in rare and crc32(f"{copy} {word}".encode()) < share * 2**32
                else word
                for word in line.split()
            )
        copy += 1


def share_for(lines: list[str], sentences: int, terms: int) -> float:
    """Returns which share of the rare words must be renamed in every copy to reach that many terms."""
    counts = Counter(word for line in lines for word in line.split())
    rare = sum(count <= 2 and word.isalpha() for word, count in counts.items())
    present = len(read_documents(lines).terms)
    copies = max(1.0, sentences / len(lines) - 1)
    return min(1.0, max(0.0, (terms - present) / max(1.0, rare * copies)))


class WordByWord:
    """The corruption as its description reads: a list of candidates and a draw for every single word."""

    def __init__(self, documents: Documents, ranking: Ranking) -> None:
        self.terms: list[str] = ranking.terms.tolist()
        self.rank = {term: rank for rank, term in enumerate(self.terms)}
        self.relevance = ranking.relevance.tolist()
        self.idf = dict(zip(self.terms, ranking.idf.tolist(), strict=True))

    def probabilities(self, words: list[str]) -> list[float]:
        counts = Counter(words)
        scores = [float(np.log1p(counts[word] / len(words))) * self.idf[word] for word in words]
        above = [score - min(scores) for score in scores]
        mean = sum(above) / len(above)
        if mean == 0:
            return [0.0] * len(words)
        found = [min(MAGNITUDE * value / mean, 1.0) for value in above]
        if max(found) < 1:
            found[found.index(max(found))] = 1.0
        return found

    def corrupt(self, batch: list[list[str]], rng: np.random.Generator) -> list[str]:
        chosen = [[rng.random() < p for p in self.probabilities(words)] for words in batch]
        return [
            " ".join(self.draw(word, rng) if flag else word for word, flag in zip(words, flags, strict=True))
            for words, flags in zip(batch, chosen, strict=True)
        ]

    def draw(self, word: str, rng: np.random.Generator) -> str:
        low = max(0, self.rank[word] - RADIUS)
        sums = list(accumulate(self.relevance[low : self.rank[word] + RADIUS + 1]))
        return self.terms[low + bisect.bisect_right(sums, rng.random() * sums[-1])]


def copies(
    positions: Positions, ranking: Ranking, batches: list[np.ndarray], *, repair: bool
) -> Iterator[tuple[Positions, Corruption]]:
    """Yields the sentences of every batch and what became of them."""
    for step, places in enumerate(batches):
        taken, rng = take(positions, places), np.random.default_rng(step)
        yield (
            taken,
            corrupt(taken, ranking, rng, by="tfidf", magnitude=MAGNITUDE, radius=RADIUS, repair=repair),
        )


def to_ranks(positions: Positions, ranking: Ranking, batches: list[np.ndarray]) -> int:
    """Corrupts all batches and returns how many words changed."""
    found = copies(positions, ranking, batches, repair=False)
    return sum(int((copy.ranks != taken.ranks).sum()) for taken, copy in found)


def to_texts(positions: Positions, ranking: Ranking, batches: list[np.ndarray]) -> list[str]:
    """Returns the copies of all batches as texts."""
    texts: list[str] = []
    for taken, copy in copies(positions, ranking, batches, repair=True):
        words = ranking.terms[copy.ranks].tolist()
        texts += [spaced(words[start:end]) for start, end in pairwise(taken.ends.tolist())]
    return texts


def words_of(positions: Positions, ranking: Ranking, place: int) -> list[str]:
    start, end = positions.ends[place : place + 2]
    words: list[str] = ranking.terms[positions.ranks[start:end]].tolist()
    return words


def check_agreement(positions: Positions, ranking: Ranking, slow: WordByWord) -> None:
    """Stops unless probabilities agree to 1e-6 and all drawn words under equal random numbers."""
    for number in range(CHECKED // BATCH):
        places = np.arange(number * BATCH, (number + 1) * BATCH)
        sentences = take(positions, places)
        batch = [words_of(positions, ranking, int(place)) for place in places]
        expected = [p for words in batch for p in slow.probabilities(words)]
        np.testing.assert_allclose(probabilities(sentences, MAGNITUDE), expected, atol=1e-6)
        found = corrupt(
            sentences,
            ranking,
            np.random.default_rng(number),
            by="tfidf",
            magnitude=MAGNITUDE,
            radius=RADIUS,
            repair=False,
        )
        text = spaced(ranking.terms[found.ranks].tolist())
        if text != " ".join(slow.corrupt(batch, np.random.default_rng(number))):
            raise Disagreement(f"the two forms of UNA's corruption differ in batch {number}")


def prepared(lines: list[str], count: int, terms: int) -> tuple[Documents, Ranking, Positions]:
    """Returns the statistics of the scaled corpus."""
    texts = list(islice(renamed(lines, share_for(lines, count, terms)), count))
    documents = read_documents(texts)
    ranking = rank_terms(documents)
    return documents, ranking, score_positions(documents, ranking, count=len(texts), unit="position")


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns the time of some batches as ids, as texts and one word at a time."""
    count, terms, steps = (CHECKED, 100, 4) if short else (30_000, 55_000, 40)
    documents, ranking, positions = prepared(sentences(3_000, short), count, terms)
    slow = WordByWord(documents, ranking)
    check_agreement(positions, ranking, slow)
    order = np.random.default_rng(0).permutation(count)[: steps * BATCH]
    batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    words = [[words_of(positions, ranking, int(place)) for place in batch] for batch in batches]
    rng = np.random.default_rng(0)
    forms: dict[str, Form] = {
        "ids": lambda: to_ranks(positions, ranking, batches),
        "texts": lambda: to_texts(positions, ranking, batches),
        "word by word": lambda: [slow.corrupt(batch, rng) for batch in words],
    }
    return [
        compare(
            f"UNA's corruption, {len(order)} sentences, {len(ranking.terms)} terms",
            forms,
            rounds=rounds,
            targets={"word by word": TARGET},
            agreement=f"both forms agree on {CHECKED} sentences, word for word",
        )
    ]
