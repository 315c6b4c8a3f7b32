"""A million sentences of UNA in a process of their own: growth of memory, pace alone, pace of two at once.

    python -m benchmarks.una_million ROUNDS [--short]

Prints JSON, which `benchmarks.una` reads.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import chain
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks.material import sentences
from benchmarks.processes import resident
from benchmarks.una import CHECKED, batches_of, pace, prepared, scaled, to_texts
from methods.una.terms import Ranking, Sentences

MILLION, MANY_TERMS, FEW = 1_000_000, 450_000, 4 * CHECKED

STEPS_AT_ONCE = 100
"""Batches whose texts a process holds."""


def statistics_of_many(rounds: int, short: bool) -> dict[str, Any]:
    """Returns growth of memory in MB and pace in microseconds. No text is kept."""
    count, terms = (FEW, 100) if short else (MILLION, MANY_TERMS)
    texts = scaled(sentences(3_000 if short else 20_000, short), count, terms)
    texts = chain([next(texts)], texts)  # what makes the texts is no part of the growth
    before = resident("VmRSS")
    ranking, counted = prepared(texts, count)
    kept, peak = ((resident(field) - before) / 1e6 for field in ("VmRSS", "VmHWM"))
    words, mass = ranking.terms, ranking.mass
    arrays = [counted.ranks, counted.counts, counted.ends, counted.forced, ranking.order, ranking.relevance]
    arrays += [ranking.idf, mass.sums, mass.guide, words.letters, words.ends]
    return {
        "sentences": count,
        "terms": len(words),
        "words": len(counted.ranks),
        "kept": kept,
        "arrays": sum(array.nbytes for array in arrays) / 1e6,
        "peak": [peak],
        "pace": pace(counted, ranking, rounds, short),
        **by_two(counted, ranking, rounds, short),
    }


def by_two(counted: Sentences, ranking: Ranking, rounds: int, short: bool) -> dict[str, list[float]]:
    """Returns what a copy as text takes in every round with two forked processes at work at once.

    `by two` are microseconds of the clock, `cost by two` those of a processor.
    """
    batches = batches_of(len(counted.ends) - 1, 4 if short else 3_200)
    size = sum(map(len, batches))
    found: dict[str, list[float]] = {"by two": [], "cost by two": []}
    fork = get_context("fork")
    for _ in range(rounds):
        answers, together = fork.SimpleQueue(), fork.Barrier(2)
        both = [
            fork.Process(target=write, args=(counted, ranking, batches[turn::2], together, answers))
            for turn in (0, 1)
        ]
        for process in both:
            process.start()
        starts, ends, costs = zip(*(answers.get() for _ in both), strict=True)
        for process in both:
            process.join()
        found["by two"].append(1e6 * (max(ends) - min(starts)) / size)
        found["cost by two"].append(1e6 * sum(costs) / size)
    return found


def write(
    counted: Sentences, ranking: Ranking, batches: list[np.ndarray], together: Any, answers: Any
) -> None:
    """Writes all copies once both are there; answers when it began and ended, and the processor's seconds."""
    together.wait()
    started, cost = time.perf_counter(), time.process_time()
    for first in range(0, len(batches), STEPS_AT_ONCE):
        to_texts(counted, ranking, batches[first : first + STEPS_AT_ONCE])
    answers.put((started, time.perf_counter(), time.process_time() - cost))


if __name__ == "__main__":
    print(json.dumps(statistics_of_many(int(sys.argv[1]), "--short" in sys.argv)))
