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
from itertools import accumulate, islice
from zlib import crc32

import numpy as np

from benchmarks.material import sentences
from benchmarks.measurement import Disagreement, Form, Result, Spread, compare
from benchmarks.processes import answer_of
from methods.una.corruption import Corruption, Positions, corrupt, force_top, probabilities, take
from methods.una.terms import Ranking, Sentences, counted_sentences, rank_terms, read_documents

BATCH, MAGNITUDE, RADIUS = 64, 0.5, 4000
TARGET, RANKS_LIMIT, TEXTS_LIMIT, MEMORY_LIMIT_MB = 100.0, 1e6 / 300_000, 1e6 / 100_000, 250.0
TWO_LIMIT = 1e6 / 300_000
"""Times faster than word by word; microseconds of one processor for a sentence, to ranks where the corpus has
30,000; growth of memory for a million; microseconds of the clock for a copy as text, by two processes."""

CHECKED = 20 * BATCH
"""Sentences on which the two forms must agree, word for word."""

RANKS, TEXTS = "corruption to ranks", "copies as texts"
TWO = "copies as texts by two processes"


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


def copies(
    sentences: Sentences, ranking: Ranking, batches: list[np.ndarray], *, repair: bool
) -> Iterator[tuple[Positions, Corruption]]:
    """Yields the sentences of every batch and what became of them."""
    for step, places in enumerate(batches):
        taken, rng = take(sentences, places), np.random.default_rng(step)
        yield (
            taken,
            corrupt(taken, ranking, rng, by="tfidf", magnitude=MAGNITUDE, radius=RADIUS, repair=repair),
        )


def to_ranks(sentences: Sentences, ranking: Ranking, batches: list[np.ndarray]) -> int:
    """Corrupts all batches and returns how many words changed."""
    found = copies(sentences, ranking, batches, repair=False)
    return sum(int((copy.ranks != taken.ranks).sum()) for taken, copy in found)


def to_texts(sentences: Sentences, ranking: Ranking, batches: list[np.ndarray]) -> list[str]:
    """Returns the copies of all batches as texts."""
    texts: list[str] = []
    for taken, copy in copies(sentences, ranking, batches, repair=True):
        texts += ranking.terms.texts(copy.ranks, taken.ends)
    return texts


def words_of(sentences: Sentences, ranking: Ranking, place: int) -> list[str]:
    start, end = sentences.ends[place : place + 2]
    return ranking.terms.words(sentences.ranks[start:end])


def check_agreement(sentences: Sentences, ranking: Ranking, slow: WordByWord) -> None:
    """Stops unless probabilities agree to 1e-6 and all drawn words under equal random numbers."""
    for number in range(CHECKED // BATCH):
        places = np.arange(number * BATCH, (number + 1) * BATCH)
        taken = take(sentences, places)
        batch = [words_of(sentences, ranking, int(place)) for place in places]
        expected = [p for words in batch for p in slow.probabilities(words)]
        np.testing.assert_allclose(probabilities(taken, MAGNITUDE), expected, atol=1e-6)
        found = corrupt(
            taken,
            ranking,
            np.random.default_rng(number),
            by="tfidf",
            magnitude=MAGNITUDE,
            radius=RADIUS,
            repair=False,
        )
        texts = ranking.terms.texts(found.ranks, taken.ends)
        if texts != slow.corrupt(batch, np.random.default_rng(number)):
            raise Disagreement(f"the two forms of UNA's corruption differ in batch {number}")


def prepared(texts: Iterable[str], count: int) -> tuple[Ranking, Sentences]:
    """Returns the statistics of a corpus of so many texts."""
    documents = read_documents(texts)
    ranking = rank_terms(documents)
    sentences = counted_sentences(documents, ranking, count=count, unit="position")
    force_top(sentences, MAGNITUDE)
    return ranking, sentences


def scaled(lines: list[str], count: int, terms: int) -> Iterator[str]:
    """Returns so many texts with about so many terms."""
    return islice(renamed(lines, share_for(lines, count, terms)), count)


def batches_of(count: int, steps: int) -> list[np.ndarray]:
    order = np.random.default_rng(0).permutation(count)[: steps * BATCH]
    return [order[start : start + BATCH] for start in range(0, len(order), BATCH)]


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns the time of copies as texts beside one word at a time, the pace, and that of a million."""
    count, terms, steps = (CHECKED, 100, 4) if short else (30_000, 55_000, 40)
    ranking, counted = prepared(scaled(sentences(3_000, short), count, terms), count)
    slow = WordByWord(ranking)
    check_agreement(counted, ranking, slow)
    agreement = f"both forms agree on {CHECKED} sentences, word for word"
    batches = batches_of(count, steps)
    words = [[words_of(counted, ranking, int(place)) for place in batch] for batch in batches]
    rng = np.random.default_rng(0)
    forms: dict[str, Form] = {
        "texts": lambda: to_texts(counted, ranking, batches),
        "word by word": lambda: [slow.corrupt(batch, rng) for batch in words],
    }
    about = f"{count} sentences, {len(ranking.terms)} terms"
    ours = f"UNA's copies as texts, {len(batches) * BATCH} of {about}"
    limits = {} if short else {RANKS: RANKS_LIMIT, TEXTS: TEXTS_LIMIT}
    return [
        compare(ours, forms, rounds=rounds, targets={"word by word": TARGET}, agreement=agreement),
        *(
            result(form, about, taken, limits.get(form))
            for form, taken in pace(counted, ranking, rounds, short).items()
        ),
        *many(rounds, short),
    ]


def pace(counted: Sentences, ranking: Ranking, rounds: int, short: bool) -> dict[str, list[float]]:
    """Returns the microseconds of a processor that a sentence takes in every round, by turns."""
    batches = batches_of(len(counted.ends) - 1, 4 if short else 400)
    forms = {
        RANKS: lambda: to_ranks(counted, ranking, batches),
        TEXTS: lambda: to_texts(counted, ranking, batches),
    }
    size = sum(len(batch) for batch in batches)
    taken: dict[str, list[float]] = {name: [] for name in forms}
    for number in range(rounds + 1):
        for name, form in forms.items():
            started = time.process_time()
            form()
            once = 1e6 * (time.process_time() - started) / size
            taken[name] += [once] if number else []  # the first warms up
    return taken


def result(form: str, about: str, taken: list[float], limit: float | None) -> Result:
    spread = Spread.of(taken)
    note = f"{1e6 / spread.median:,.0f} sentences in a second of one processor"
    return Result(f"UNA's {form}, {about}", "us a sentence", spread, limit=limit, note=note)


def many(rounds: int, short: bool) -> list[Result]:
    """Returns the pace and the memory of a million sentences, from a process of their own."""
    found = answer_of("benchmarks.una_million", str(rounds), *(["--short"] if short else []))
    about = f"{found['sentences']} sentences, {found['terms']} terms"
    limit = None if short else MEMORY_LIMIT_MB
    note = (
        f"{found['kept']:.0f} MB of it kept, of which {found['arrays']:.0f} MB are arrays: rank and count of "
        f"{found['words']} words, 5 bytes each, and what draws need of the terms; the rest is what the "
        "allocator keeps of the numbering"
    )
    peak, both, cost = (Spread.of(found[part]) for part in ("peak", "by two", "cost by two"))
    return [
        result(RANKS, about, found["pace"][RANKS], None),
        result(TEXTS, about, found["pace"][TEXTS], None if short else TEXTS_LIMIT),
        Result(
            f"UNA's {TWO}, {about}",
            "us a sentence",
            both,
            limit=None if short else TWO_LIMIT,
            note=f"{1e6 / both.median:,.0f} sentences in a second of the clock, from "
            f"{cost.median / both.median:.1f} processors; {1e6 / cost.median:,.0f} in a second of one; "
            "statistics are shared",
        ),
        Result(f"memory of UNA's statistics, {about}", "MB", peak, limit=limit, note=note),
    ]
