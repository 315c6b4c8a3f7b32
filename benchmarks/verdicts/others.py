"""Simulated studies of a reported number by independent runs, and of many numbers."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.verdicts.studies import (
    OUTSIDE_OF_IT,
    ErrorRate,
    failed,
    fifty_runs,
    reported_numbers,
)
from harness.evidence.number_tests import (
    Origin,
    PValues,
    origin_of,
    p_values_of_sources,
)
from harness.evidence.verdicts import answers_by_sources
from harness.evidence.words import LEVELS

SIZES = (3, 8, 15)
"""Numbers of sources."""
SPREADS = (0.25, 0.5, 1.0)
"""Standard deviations between the runs of a source."""
APART = (0.0, 0.3, 0.8)
"""Standard deviations between the true means of sources with several runs."""
LOWER, HIGHER = LEVELS.index("lower"), LEVELS.index("higher")
RED_BY_OTHERS = "yet red by others"


def asked(
    means: np.ndarray, counts: Sequence[int], reported: Any, judged: Origin, within: np.ndarray | None = None
) -> tuple[np.ndarray, PValues]:
    """Returns the mean of the sources minus the reported number, and the p-values; [studies].

    means: of the sources, [sources, studies]; within: variance within a source, [studies].
    """
    away, sds = means.mean(axis=0) - reported, means.std(axis=0, ddof=1)
    return away, p_values_of_sources(away, sds, counts, origin=judged, within=within)


def red(
    means: np.ndarray, counts: Sequence[int], reported: Any, judged: Origin, within: np.ndarray | None = None
) -> float:
    """Returns the share of red studies; arguments as of `asked`."""
    away, tests = asked(means, counts, reported, judged, within)
    return float(failed(*answers_by_sources(tests, away)).mean())


def red_by_others(
    rng: np.random.Generator,
    counts: Sequence[int],
    *,
    studies: int,
    drawn: Origin | None = None,
    judged: Origin | None = None,
    within: float = 0.8,
    between: float = 0.0,
) -> float:
    """Returns the rate of red honest numbers, with `counts` runs per source. drawn, judged: the true and
    the stated origin of the number, by default one run. The means of runs and the variance within a source
    are drawn from their distributions.
    """
    size = np.array(counts)[:, None]
    means = between * rng.normal(size=(len(counts), studies))
    means += within / np.sqrt(size) * rng.normal(size=means.shape)
    freedom = int(size.sum()) - len(counts)
    pooled = within**2 * rng.chisquare(freedom, studies) / freedom if freedom else None
    reported = reported_numbers(rng, within, studies, drawn or Origin()) + between * rng.normal(size=studies)
    return red(means, counts, reported, judged or Origin(), pooled)


def rows_of_others(studies: int) -> list[ErrorRate]:
    """Returns the rates of wrong levels of independent runs and of wrongly red numbers."""
    rng, wrong = np.random.default_rng(3), "right on average, yet the level by others is off"

    def level(count: int, sd: float, *, only_bad: bool = False) -> float:
        means = sd * rng.normal(size=(count, studies))
        away, tests = asked(-np.abs(means) if only_bad else means, [1] * count, 0.0, Origin())
        return float(np.isin(answers_by_sources(tests, away)[0], (LOWER, HIGHER)).mean())

    way = "3, 8 and 15 sources, sd 0.25 to 1"
    rows = [ErrorRate(wrong, way, max(level(count, sd) for count in SIZES for sd in SPREADS), studies)]
    for count in (4, 8, 15):
        how = f"{count} sources, sd 0.8, only results below the number are published; {OUTSIDE_OF_IT}"
        rows.append(ErrorRate(wrong, how, level(count, 0.8, only_bad=True), studies, None))
    kinds: dict[str, tuple[Origin, Origin]] = {
        "one honest run": (Origin(), Origin()),
        "one honest run, number of runs not stated": (Origin(), origin_of(None)),
        "best of 5 on dev, not stated": (Origin(1, 5), origin_of(None)),
        "best of 10 on dev, not stated": (Origin(1, 10), origin_of(None)),
        "best of 5 on dev, stated": (Origin(1, 5), Origin(1, 5)),
        "mean of 5": (Origin(5), Origin(5)),
        "mean of 3 runs, each the best of 5 on dev, stated": (Origin(3, 5), Origin(3, 5)),
    }
    outside: dict[str, tuple[Origin, Origin]] = {
        "best of 5 on dev, entered as one run": (Origin(1, 5), Origin()),
        "best of 10 on dev, entered as one run": (Origin(1, 10), Origin()),
        "mean of 5 runs, each the best of 5 on dev, the choice not stated": (Origin(5, 5), Origin(5)),
    }

    def worst(drawn: Origin, judged: Origin) -> float:
        make = partial(red_by_others, rng, studies=studies, drawn=drawn, judged=judged)
        return max(
            make(counts, within=sd, between=apart)
            for n in SIZES
            for counts, between in (([1] * n, (0.0,)), ([50, *[1] * (n - 1)], APART), ([5] * n, APART))
            for sd in SPREADS
            for apart in between
        )

    way += ", of 1 or 5 runs, or one of 50, that differ by 0 to 0.8"
    rows += [
        ErrorRate(f"{name}, {RED_BY_OTHERS}", way, worst(*kind), studies) for name, kind in kinds.items()
    ]
    rows += [
        ErrorRate(f"{name}, {RED_BY_OTHERS}", f"{way}; {OUTSIDE_OF_IT}", worst(*kind), studies, None)
        for name, kind in outside.items()
    ]
    return [*rows, *_rows_of_laws(rng, studies)]


def _rows_of_laws(rng: np.random.Generator, studies: int) -> list[ErrorRate]:
    """Returns the rate of red honest runs for runs without a normal distribution."""
    promise = f"one honest run, {RED_BY_OTHERS}"

    def worst(draw: Callable[[int], np.ndarray]) -> float:
        drawn = {n: draw(n + 1) for n in SIZES}
        return max(red(runs[:n], [1] * n, runs[n], Origin()) for n, runs in drawn.items())

    def among(runs: np.ndarray, count: int) -> np.ndarray:
        return np.asarray(runs[np.argsort(rng.random((len(runs), studies)), axis=0)[:count]])

    rows = []
    for count, copies in ((8, 5), (15, 10)):
        means = 0.8 * rng.normal(size=(count, studies))
        means[:copies] = means[0]
        how = f"{count} sources, sd 0.8, of which {copies} are one; {OUTSIDE_OF_IT}"
        rows.append(
            ErrorRate(
                promise, how, red(means, [1] * count, 0.8 * rng.normal(size=studies), Origin()), studies, None
            )
        )
    best = 0.8 * rng.normal(size=(20, studies)).max(axis=0)
    means = 0.8 * rng.normal(size=(8, studies))
    for judged, words in ((Origin(), "as one run"), (origin_of(None), "number of runs not stated")):
        how = f"8 sources, sd 0.8, {words}; {OUTSIDE_OF_IT}"
        missed = 1 - red(means, [1] * 8, best, judged)
        rows.append(ErrorRate("the best of 20 on the test set is not found", how, missed, studies, None))
    for backbone in ("bert-base-uncased", "bert-large-uncased"):
        how = f"3, 8 and 15 sources among the 50 seeds of SimCSE on {backbone}"
        rows.append(ErrorRate(promise, how, worst(partial(among, fifty_runs(backbone))), studies))
    laws: dict[str, Callable[[int], np.ndarray]] = {
        "left-skewed (exponential), sd 1": lambda n: -rng.gamma(1.0, size=(n, studies)),
        "Student's t(3)": lambda n: rng.standard_t(3, (n, studies)),
        "5 % of runs collapse by 20, sd 0.5": lambda n: (
            rng.normal(0, 0.5, (n, studies)) - 20 * (rng.random((n, studies)) < 0.05)
        ),
    }
    rows += [
        ErrorRate(promise, f"3, 8 and 15 sources, {law}; {OUTSIDE_OF_IT}", worst(draw), studies, None)
        for law, draw in laws.items()
    ]
    return rows
