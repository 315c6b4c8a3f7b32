"""UNA: corruption of whole batches and of one word at a time; statistics and copies of a million sentences.

The corpus is repeated as often as needed; in every copy a share of its rare words is renamed, so that the
vocabulary grows as that of a larger corpus would. Both forms are first checked to agree under equal random
numbers. The million sentences have a process of their own, so that its peak memory is theirs; two processes
forked from it, as two trainings on one machine, write copies at once.
"""

from __future__ import annotations

import bisect
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain, count, islice
from multiprocessing import get_context
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from benchmarks.inputs import sentences
from benchmarks.runner import Disagreement, Runs, compare, figure, fresh, resident, run
from harness.report.measurements import BenchmarkResult
from methods.una.corruption import Corruption, Positions, corrupt, force_top, probabilities, take
from methods.una.terms import Ranking, Sentences, counted_sentences, rank_terms, read_documents

BATCH, MAGNITUDE, RADIUS = 64, 0.5, 4000
TARGET, RANKS_LIMIT, TEXTS_LIMIT, TWO_LIMIT = 100.0, 1e6 / 300_000, 1e6 / 100_000, 1e6 / 300_000
"""Times faster than word by word; microseconds of one processor for a sentence, to ranks where the corpus has
30,000; those of the clock for a copy as text, by two processes."""
MEMORY_LIMIT_MB = 250.0
"""Growth for a million sentences."""
CHECKED = 20 * BATCH
"""Sentences on which the two forms must agree, word for word."""
STEPS_AT_ONCE = 100
"""Batches whose texts a process holds."""
RANKS, TEXTS = "corruption to ranks", "copies as texts"


class Corpus(NamedTuple):
    """The statistics of a corpus."""

    ranking: Ranking
    counted: Sentences

    @property
    def size(self) -> int:
        """Sentences."""
        return len(self.counted.ends) - 1

    def __str__(self) -> str:
        return f"{self.size} sentences, {len(self.ranking.terms)} terms"

    def words(self, place: int) -> list[str]:
        """Returns the words of a sentence."""
        start, end = self.counted.ends[place : place + 2]
        return self.ranking.terms.words(self.counted.ranks[start:end])


def measure(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the time of copies as texts next to one word at a time, the pace, and that of a million."""
    size, terms, steps = (CHECKED, 100, 4) if short else (30_000, 55_000, 40)
    corpus = prepared(scaled(sentences(3_000, short), size, terms), size)
    slow = WordByWord(corpus.ranking)
    agreement = check_agreement(corpus, slow)
    batches = batches_of(corpus.size, steps)
    words = [[corpus.words(int(place)) for place in batch] for batch in batches]
    rng = np.random.default_rng(0)
    sides = {
        "texts": lambda: to_texts(corpus, batches),
        "word by word": lambda: [slow.corrupt(batch, rng) for batch in words],
    }
    name = f"UNA's {TEXTS}, {len(batches) * BATCH} of {corpus}"
    limits = (None, None) if short else (RANKS_LIMIT, TEXTS_LIMIT)
    return [
        compare(name, sides, rounds=rounds, targets={"word by word": TARGET}, agreement=agreement),
        *paces(str(corpus), pace(corpus, rounds, short), *limits),
        *many(rounds, short),
    ]


def many(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the pace and the memory of a million sentences, from a process of their own."""
    found = fresh(statistics_of_many, rounds, short)
    limits = [None] * 3 if short else [TEXTS_LIMIT, TWO_LIMIT, MEMORY_LIMIT_MB]
    by_two = f"UNA's {TEXTS} by two processes, {found['about']}"
    return [
        *paces(found["about"], found["pace"], None, limits[0]),
        figure(by_two, "us a sentence", found["by two"], limit=limits[1], note="statistics are shared"),
        figure(
            f"memory of UNA's statistics, {found['about']}",
            "MB",
            [found["peak"]],
            limit=limits[2],
            note=f"{found['kept']:.0f} MB of it kept, of which {found['arrays']:.0f} MB are arrays",
        ),
    ]


def statistics_of_many(rounds: int, short: bool) -> dict[str, Any]:
    """Returns growth of memory in MB and pace; no text is kept. To be run in a fresh process."""
    size, terms = (4 * CHECKED, 100) if short else (1_000_000, 450_000)
    texts = scaled(sentences(3_000 if short else 20_000, short), size, terms)
    texts = chain([next(texts)], texts)  # what makes the texts is no part of the growth
    before = resident("VmRSS")
    corpus = prepared(texts, size)
    kept, peak = ((resident(field) - before) / 1e6 for field in ("VmRSS", "VmHWM"))
    ranking, counted = corpus
    words, mass = ranking.terms, ranking.mass
    arrays = [counted.ranks, counted.counts, counted.ends, counted.forced, ranking.order, ranking.relevance]
    arrays += [ranking.idf, mass.sums, mass.guide, words.letters, words.ends]
    return {
        "about": str(corpus),
        "kept": kept,
        "arrays": sum(array.nbytes for array in arrays) / 1e6,
        "peak": peak,
        "pace": pace(corpus, rounds, short),
        "by two": by_two(corpus, rounds, short),
    }


def by_two(corpus: Corpus, rounds: int, short: bool) -> list[float]:
    """Returns the microseconds a copy as text takes in every round with two forked processes at work."""
    batches = batches_of(corpus.size, 4 if short else 3_200)
    found, fork = [], get_context("fork")
    for _ in range(rounds):
        answers, together = fork.SimpleQueue(), fork.Barrier(2)
        both = [
            fork.Process(target=write, args=(corpus, batches[turn::2], together, answers)) for turn in (0, 1)
        ]
        for process in both:
            process.start()
        starts, ends = zip(*(answers.get() for _ in both), strict=True)
        for process in both:
            process.join()
        found.append(1e6 * (max(ends) - min(starts)) / (len(batches) * BATCH))
    return found


def write(corpus: Corpus, batches: list[np.ndarray], together: Any, answers: Any) -> None:
    """Writes all copies once both processes are there; answers when it began and ended."""
    together.wait()
    started = time.perf_counter()
    for first in range(0, len(batches), STEPS_AT_ONCE):
        to_texts(corpus, batches[first : first + STEPS_AT_ONCE])
    answers.put((started, time.perf_counter()))


def pace(corpus: Corpus, rounds: int, short: bool) -> tuple[Runs, int]:
    """Returns the processor time of both kinds of copies, and of how many sentences."""
    batches = batches_of(corpus.size, 4 if short else 400)
    sides = {RANKS: lambda: to_ranks(corpus, batches), TEXTS: lambda: len(to_texts(corpus, batches))}
    return run(sides, rounds=rounds, clock=time.process_time), len(batches) * BATCH


def paces(
    about: str, found: tuple[Runs, int], ranks: float | None, texts: float | None
) -> Iterator[BenchmarkResult]:
    """Yields both kinds of copies in microseconds of one processor for a sentence, with their limits."""
    runs, size = found
    for form, limit in ((RANKS, ranks), (TEXTS, texts)):
        name, scale = f"UNA's {form}, {about}", 1e6 / size
        yield runs.result(name, form, unit="us a sentence", scale=scale, limit=limit)


class WordByWord:
    """The corruption as its description reads: a list of candidates and a draw for every single word."""

    def __init__(self, ranking: Ranking) -> None:
        self.terms = ranking.terms.words(np.arange(len(ranking.terms)))
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


def check_agreement(corpus: Corpus, slow: WordByWord) -> str:
    """Raises Disagreement unless probabilities agree to 1e-6, and all words under equal random numbers."""
    batches = list(np.arange(CHECKED).reshape(-1, BATCH))
    for number, (taken, found) in enumerate(copies(corpus, batches, repair=False)):
        batch = [corpus.words(int(place)) for place in batches[number]]
        expected = [p for words in batch for p in slow.probabilities(words)]
        texts = corpus.ranking.terms.texts(found.ranks, taken.ends)
        near = np.allclose(probabilities(taken, MAGNITUDE), expected, rtol=1e-7, atol=1e-6)
        if not near or texts != slow.corrupt(batch, np.random.default_rng(number)):
            raise Disagreement(f"the two forms of UNA's corruption differ in batch {number}")
    return f"both forms agree on {CHECKED} sentences, word for word"


def copies(
    corpus: Corpus, batches: list[np.ndarray], *, repair: bool
) -> Iterator[tuple[Positions, Corruption]]:
    """Yields the sentences of every batch and what became of them."""
    settings: Any = {"by": "tfidf", "magnitude": MAGNITUDE, "radius": RADIUS, "repair": repair}
    for step, places in enumerate(batches):
        taken, rng = take(corpus.counted, places), np.random.default_rng(step)
        yield taken, corrupt(taken, corpus.ranking, rng, **settings)


def to_ranks(corpus: Corpus, batches: list[np.ndarray]) -> int:
    """Corrupts all batches and returns how many words changed."""
    return sum(
        int((copy.ranks != taken.ranks).sum()) for taken, copy in copies(corpus, batches, repair=False)
    )


def to_texts(corpus: Corpus, batches: list[np.ndarray]) -> list[str]:
    """Returns the copies of all batches as texts."""
    texts: list[str] = []
    for taken, copy in copies(corpus, batches, repair=True):
        texts += corpus.ranking.terms.texts(copy.ranks, taken.ends)
    return texts


def prepared(texts: Iterable[str], size: int) -> Corpus:
    """Returns the statistics of a corpus of so many texts."""
    documents = read_documents(texts)
    ranking = rank_terms(documents)
    counted = counted_sentences(documents, ranking, count=size, unit="position")
    force_top(counted, MAGNITUDE)
    return Corpus(ranking, counted)


def scaled(lines: list[str], size: int, terms: int) -> Iterator[str]:
    """Returns so many texts with about so many terms: the lines over and over.

    In copy c a share of the words that occur at most twice become `word` + `xc`.
    """
    counts = Counter(word for line in lines for word in line.split())
    rare = {word for word, seen in counts.items() if seen <= 2 and word.isalpha()}
    missing, further = terms - len(read_documents(lines).terms), max(1.0, size / len(lines) - 1)
    share = min(1.0, max(0.0, missing / max(1.0, len(rare) * further)))

    def renamed(word: str, copy: int) -> str:
        chosen = copy and word in rare and crc32(f"{copy} {word}".encode()) < share * 2**32
        return f"{word}x{copy}" if chosen else word

    return islice(
        (" ".join(renamed(word, copy) for word in line.split()) for copy in count() for line in lines), size
    )


def batches_of(size: int, steps: int) -> list[np.ndarray]:
    order = np.random.default_rng(0).permutation(size)[: steps * BATCH]
    return [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
