"""Simulated studies of a reported number by few sources with a borrowed spread, and by one source."""

from typing import cast

import numpy as np

from benchmarks.verdicts.others import RED_BY_OTHERS, SPREADS
from benchmarks.verdicts.studies import OUTSIDE_OF_IT, ErrorRate, failed, fifty_runs
from harness.evidence.number_tests import AMONG_BORROWED, Origin, p_values, p_values_of_sources
from harness.evidence.statistics import KnownSd
from harness.evidence.verdicts import answers_by_sources


def rows_of_borrowing(studies: int) -> list[ErrorRate]:
    """Returns the rates for few sources with a borrowed spread, and for one source of many runs."""
    rng, sizes = np.random.default_rng(11), {3: 0.25, 5: 0.2, 8: 0.15}

    def red_with(count: int, sd: float, off: float = 0.0, ratio: float = 1.0, between: float = 0.0) -> float:
        lent = sd * np.sqrt(rng.chisquare(49, studies) / 49)
        means = rng.normal(0, np.hypot(ratio * sd, between), (count, studies))
        reported = off + rng.normal(0, np.hypot(ratio * sd, between), studies)
        return _red_borrowed(means, reported, lent)

    promise, way = (
        f"one honest run, {RED_BY_OTHERS}",
        "3, 5 and 8 sources of one run, a spread borrowed from 50",
    )
    worst = max(red_with(count, sd) for count in sizes for sd in SPREADS)
    rows = [ErrorRate(promise, f"{way}, sd 0.25 to 1", worst, studies)]
    for backbone in ("bert-base-uncased", "bert-large-uncased"):
        runs = fifty_runs(backbone)
        drawn = runs[np.argsort(rng.random((len(runs), studies)), axis=0)]
        lent = np.full(studies, runs.std(ddof=1))
        rate = max(_red_borrowed(drawn[:count], drawn[count], lent) for count in sizes)
        rows.append(ErrorRate(promise, f"{way}, of the seeds of SimCSE on {backbone}", rate, studies))
    for what, rate in (
        ("the sd is 1.5 times the borrowed one", max(red_with(count, 0.8, ratio=1.5) for count in sizes)),
        ("labs differ by as much as seeds", max(red_with(count, 0.5, between=0.5) for count in sizes)),
    ):
        rows.append(ErrorRate(promise, f"{way}, {what}; {OUTSIDE_OF_IT}", rate, studies, None))
    for count, limit in sizes.items():
        how = f"{count} sources, sd 0.8, borrowed, one run 3 too high"
        missed = 1 - red_with(count, 0.8, off=3.0)
        rows.append(ErrorRate("red by others: a wrong number is not found", how, missed, studies, limit))
    return [*rows, *_rows_of_one_source(rng, studies)]


def _red_borrowed(means: np.ndarray, reported: np.ndarray, lent: np.ndarray) -> float:
    away, sds = means.mean(axis=0) - reported, means.std(axis=0, ddof=1)
    borrowed = KnownSd(cast("float", lent), 50)  # an array of studies
    tests = p_values_of_sources(away, sds, [1] * len(means), origin=Origin(), borrowed=borrowed)
    return float(failed(*answers_by_sources(tests, away, AMONG_BORROWED)).mean())


def _rows_of_one_source(rng: np.random.Generator, studies: int) -> list[ErrorRate]:
    """Returns the rates at which the runs of one source turn an honest run red."""

    def rate(count: int, offset: float, off: float = 0.0) -> float:
        seeds = rng.normal(0, 0.3, (count, studies)) + offset * rng.normal(size=studies)
        away, sds = seeds.mean(axis=0) - rng.normal(0, 0.3, studies) - off, seeds.std(axis=0, ddof=1)
        tests = p_values(away, sds, count, origin=Origin())
        return float(failed(*answers_by_sources(tests, away)).mean())

    promise, way = f"one honest run, {RED_BY_OTHERS}", "one source of 10 or 50 runs, sd 0.3"
    rows = [ErrorRate(promise, way, max(rate(count, 0.0) for count in (10, 50)), studies)]
    for offset in (0.3, 0.5):
        how = f"{way}, an offset between the labs of sd {offset:g}; {OUTSIDE_OF_IT}"
        rows.append(ErrorRate(promise, how, max(rate(count, offset) for count in (10, 50)), studies, None))
    return rows
