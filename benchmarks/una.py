"""UNA: term statistics and corruption over a million sentences, and the same one word at a time.

    python benchmarks/una.py --corpus FILE [--sentences N] [--terms N] [--rounds N] [--short]

FILE holds one sentence a line. It is repeated as often as needed; in every copy a share of its rare words is
renamed, so that the vocabulary grows as that of a larger corpus would. Prints the machine, counts, processor
seconds (which other work on the machine stretches less than the clock's), medians, ratios and the peak memory
of the process. Both forms are first checked to agree under equal random numbers.
"""

from __future__ import annotations

import argparse
import bisect
import platform
import resource
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, islice, pairwise
from pathlib import Path
from zlib import crc32

import numpy as np

from methods.una.corruption import corrupt, probabilities, take
from methods.una.style import spaced
from methods.una.terms import Documents, Positions, Ranking, rank_terms, read_documents, score_positions

BATCH, MAGNITUDE, RADIUS = 64, 0.5, 4000
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
    return min(1.0, max(0.0, (terms - present) / (rare * copies)))


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


def to_ranks(positions: Positions, ranking: Ranking, batches: list[np.ndarray]) -> int:
    """Corrupts all batches and returns how many words changed."""
    changed = 0
    for step, places in enumerate(batches):
        sentences = take(positions, places)
        found = corrupt(
            sentences,
            ranking,
            np.random.default_rng(step),
            by="tfidf",
            magnitude=MAGNITUDE,
            radius=RADIUS,
            repair=False,
        )
        changed += int((found.ranks != sentences.ranks).sum())
    return changed


def to_texts(positions: Positions, ranking: Ranking, batches: list[np.ndarray]) -> list[str]:
    """Returns the copies of all batches as texts."""
    texts: list[str] = []
    for step, places in enumerate(batches):
        sentences = take(positions, places)
        found = corrupt(
            sentences,
            ranking,
            np.random.default_rng(step),
            by="tfidf",
            magnitude=MAGNITUDE,
            radius=RADIUS,
            repair=True,
        )
        words = ranking.terms[found.ranks].tolist()
        ends = sentences.ends.tolist()
        texts += [spaced(words[start:end]) for start, end in pairwise(ends)]
    return texts


def timed(work: object, *arguments: object) -> float:
    start = time.process_time()
    work(*arguments)  # type: ignore[operator]
    return time.process_time() - start


def words_of(positions: Positions, ranking: Ranking, place: int) -> list[str]:
    start, end = positions.ends[place : place + 2]
    words: list[str] = ranking.terms[positions.ranks[start:end]].tolist()
    return words


def check_agreement(positions: Positions, ranking: Ranking, slow: WordByWord) -> None:
    """Stops unless probabilities agree to 1e-6 and all drawn words under equal random numbers."""
    for number in range(CHECKED // BATCH):
        places = np.arange(number * BATCH, (number + 1) * BATCH)
        sentences = take(positions, places)
        batch = [words_of(positions, ranking, place) for place in places]
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
            raise SystemExit(f"the two forms differ in batch {number}")


def prepared(lines: list[str], sentences: int, terms: int) -> tuple[Documents, Ranking, Positions]:
    """Returns the statistics of the scaled corpus; prints what each part took."""
    share = share_for(lines, sentences, terms)
    texts = list(islice(renamed(lines, share), sentences))
    before = peak_mib()
    start = time.process_time()
    documents = read_documents(texts)
    tokenised = time.process_time()
    ranking = rank_terms(documents)
    positions = score_positions(documents, ranking, count=len(texts), unit="position")
    counted = time.process_time()
    print(f"{len(texts)} sentences, {len(documents.flat)} words, {len(ranking.terms)} terms")
    print(f"tokenise {tokenised - start:.1f} s, statistics {counted - tokenised:.1f} s")
    arrays = (
        documents.flat,
        positions.ranks,
        positions.ratios,
        positions.ends,
        ranking.mass,
        ranking.relevance,
    )
    print(f"arrays {sum(array.nbytes for array in arrays) / 2**20:.0f} MiB")
    print(f"peak memory of the process {peak_mib():.0f} MiB, {before:.0f} of it with the texts alone")
    return documents, ranking, positions


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True, help="one sentence a line")
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--terms", type=int, default=450_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--short", action="store_true", help="30,000 sentences, 2 rounds")
    given = parser.parse_args()
    lines = [line for line in given.corpus.read_text(encoding="utf-8").splitlines() if line.strip()]
    sentences, rounds = (30_000, 2) if given.short else (given.sentences, given.rounds)
    print(f"{platform.machine()}, one thread, Python {platform.python_version()}, numpy {np.__version__}")
    documents, ranking, positions = prepared(lines, sentences, given.terms)
    slow = WordByWord(documents, ranking)
    check_agreement(positions, ranking, slow)
    print(f"both forms agree on {CHECKED} sentences, word for word")
    order = np.random.default_rng(0).permutation(sentences)[: 2_000 * BATCH]
    batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    few = [[words_of(positions, ranking, place) for place in batch] for batch in batches[:4]]
    rates: dict[str, list[float]] = {"ranks": [], "texts": [], "word by word": []}
    for number in range(rounds):
        rates["ranks"].append(len(order) / timed(to_ranks, positions, ranking, batches))
        rates["texts"].append(len(order) / timed(to_texts, positions, ranking, batches))
        rng = np.random.default_rng(number)
        naive = timed(lambda rng=rng: [slow.corrupt(batch, rng) for batch in few])
        rates["word by word"].append(4 * BATCH / naive)
    fastest = statistics.median(rates["ranks"])
    for form, values in rates.items():
        median = statistics.median(values)
        print(
            f"{form}: {median:,.0f} sentences a second ({min(values):,.0f} to {max(values):,.0f}), "
            f"ranks are {fastest / median:.1f} times as fast"
        )


if __name__ == "__main__":
    main()
