"""Simulated studies of a reported number by few sources with a borrowed spread, and by one source."""

from collections.abc import Callable
from functools import partial
from typing import cast

import numpy as np

from benchmarks.verdicts.others import RED_BY_OTHERS, SPREADS
from benchmarks.verdicts.studies import OUTSIDE_OF_IT, ErrorRate, failed, fifty_runs
from harness.evidence.number_tests import (
    AMONG_BORROWED,
    AMONG_SOURCES,
    LEVEL,
    Origin,
    PValues,
    borrows,
    p_values,
    p_values_of_sources,
)
from harness.evidence.statistics import KnownSd
from harness.evidence.verdicts import Sources, answers_by_sources, by_others

MISSED = "red by others: a wrong number is not found"
Red = Callable[[np.ndarray, np.ndarray, np.ndarray], float]
"""Share of red studies by the means of sources [sources, studies], reported numbers and borrowed sds."""


def rows_of_borrowing(studies: int) -> list[ErrorRate]:
    """Returns the rates for few sources with a borrowed spread, and for one source of many runs."""
    rng, sizes = np.random.default_rng(11), {3: 0.25, 5: 0.2, 8: 0.15}

    def red_with(
        count: int,
        sd: float,
        off: float = 0.0,
        ratio: float = 1.0,
        between: float = 0.0,
        way: Red = _red_borrowed,
    ) -> float:
        lent = sd * np.sqrt(rng.chisquare(49, studies) / 49)
        means = rng.normal(0, np.hypot(ratio * sd, between), (count, studies))
        reported = off + rng.normal(0, np.hypot(ratio * sd, between), studies)
        return way(means, reported, lent)

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
        ("the sd is 3 times the borrowed one", max(red_with(count, 0.8, ratio=3.0) for count in sizes)),
        ("labs differ by as much as seeds", max(red_with(count, 0.5, between=0.5) for count in sizes)),
    ):
        rows.append(ErrorRate(promise, f"{way}, {what}; {OUTSIDE_OF_IT}", rate, studies, None))
    for count, limit in sizes.items():
        how = f"{count} sources, sd 0.8, borrowed, one run 3 too high"
        missed = 1 - red_with(count, 0.8, off=3.0)
        rows.append(ErrorRate(MISSED, how, missed, studies, limit))
    both = partial(red_with, way=_red_by_both)
    kind = "by the larger of two p-values, which is not the rule"
    for count in sizes:
        how = f"{count} sources, sd 0.8, borrowed, one run 3 too high, {kind}; {OUTSIDE_OF_IT}"
        rows.append(ErrorRate(MISSED, how, 1 - both(count, 0.8, off=3.0), studies, None))
    rate = max(both(count, 0.8, ratio=1.5) for count in sizes)
    what = f"the sd is 1.5 times the borrowed one, {kind}"
    rows.append(ErrorRate(promise, f"{way}, {what}; {OUTSIDE_OF_IT}", rate, studies, None))
    return [*rows, *_rows_of_one_source(rng, studies)]


def _red_borrowed(means: np.ndarray, reported: np.ndarray, lent: np.ndarray) -> float:
    away, sds = means.mean(axis=0) - reported, means.std(axis=0, ddof=1)
    borrowed = KnownSd(cast("float", lent), 50)  # an array of studies
    tests = p_values_of_sources(away, sds, [1] * len(means), origin=Origin(), borrowed=borrowed)
    level = np.where(borrows(len(means), sds, borrowed), AMONG_BORROWED, AMONG_SOURCES)
    return float(failed(*answers_by_sources(tests, away, cast("float", level))).mean())


def _red_by_both(means: np.ndarray, reported: np.ndarray, lent: np.ndarray) -> float:
    """Returns the share of red studies if the larger of two p-values counted: by the sources' own spread with
    its degrees of freedom, and by the borrowed one with those of its study.
    """
    away, sds = means.mean(axis=0) - reported, means.std(axis=0, ddof=1)
    counts, borrowed = [1] * len(means), KnownSd(cast("float", lent), 50)
    own = p_values_of_sources(away, sds, counts, origin=Origin())
    theirs = p_values_of_sources(away, np.zeros_like(sds), counts, origin=Origin(), borrowed=borrowed)
    tests = PValues(*(np.maximum(one, other) for one, other in zip(own, theirs, strict=True)))
    return float(failed(*answers_by_sources(tests, away, LEVEL)).mean())


def _rows_of_one_source(rng: np.random.Generator, studies: int) -> list[ErrorRate]:
    """Returns the rates at which the runs of one source turn an honest run red, alone and where one run of a
    second source is known. The difference of any two labs has the standard deviation `offset`.
    """

    def rate(count: int, offset: float, second: bool) -> float:
        labs = offset / np.sqrt(2) * rng.normal(size=(3, studies))
        seeds = rng.normal(0, 0.3, (count, studies)) + labs[0]
        reported, other = rng.normal(0, 0.3, (2, studies)) + labs[1:]
        if second:
            red = [
                by_others(
                    Sources({"a": runs.mean(), "b": run}, {"a": count, "b": 1}, {"a": runs, "b": [run]}),
                    number,
                    origin=Origin(),
                    same_authors=False,
                    searched=True,
                ).verdict.fails
                for runs, run, number in zip(seeds.T, other, reported, strict=True)
            ]
            return float(np.mean(red))
        away, sds = seeds.mean(axis=0) - reported, seeds.std(axis=0, ddof=1)
        return float(failed(*answers_by_sources(p_values(away, sds, count, origin=Origin()), away)).mean())

    promise, rows = f"one honest run, {RED_BY_OTHERS}", []
    for second in (False, True):
        way = f"one source of 10 or 50 runs{', another of one run' if second else ''}, sd 0.3"
        for offset in (0.0, 0.3, 0.5):
            how, limit = way, None if offset else LEVEL
            if offset:
                how = f"{way}, an offset between the labs of sd {offset:g}; {OUTSIDE_OF_IT}"
            worst = max(rate(count, offset, second) for count in (10, 50))
            rows.append(ErrorRate(promise, how, worst, studies, limit))
    return rows
