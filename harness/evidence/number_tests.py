"""Tests of a reported number, for one study or many: equality of the level, and plausibility as a draw.

*Level*: is the method's mean within MARGIN of the reported number? Two one-sided t tests answer yes, one test
answers no. *Draw*: could the reported number be a result of this method: a run, a mean, or the best of
several on the development set? The test is a prediction interval.

Seeds may be added until a question is answered: looks are declared, after 5, 10, 20 and 40 seeds, and each
has the same level AT_A_LOOK, so all looks together have LEVEL (Pocock 1977).

Numbers are in points (raw scores times 100) throughout.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from harness.evidence import statistics
from harness.evidence.statistics import KnownSd

MARGIN = 0.5
"""Points within which two scores count as the same."""

LEVEL = 0.05
"""Allowed probability of a wrong answer over all looks together."""

LOOKS = (5, 10, 20, 40)
"""Numbers of seeds at which a verdict is given; runs in between wait for the next look."""

AT_A_LOOK = 0.016
"""Level of a one-sided test at one look: LEVEL over all looks, by simulated t tests (docs/error-rates.md)."""

TWO_SIDED_AT_A_LOOK = 0.015
"""Level of a two-sided test at one look, as for two systems."""

INTERVAL = 1 - 2 * AT_A_LOOK
"""Confidence of the interval that corresponds to two one-sided tests at a look."""

MOST_PICKED = 10
"""Assumed number of runs from which a number was chosen on dev if not stated: the most that is plausible."""

DEV_CORRELATION = 0.73
"""Correlation of development and test scores over seeds, from the ledger's fifty seeds on BERT-base."""

ENDLESS = 10**9
"""Number of seeds of an exact mean and standard deviation."""

COLLAPSED = 0.01
"""Largest share of studies with a wrongly reported collapsed run."""

AMONG_SOURCES = 0.03
"""Level of the draw among independent sources. It is below LEVEL, so honest numbers keep LEVEL for
left-skewed runs too, such as the ledger's fifty seeds on BERT-large (docs/error-rates.md)."""

AMONG_BORROWED = 0.04
"""The same with a borrowed standard deviation: the larger of two spreads errs less often."""

LEAST_DROP = 4 * MARGIN
"""Least distance in points of a collapsed run from its siblings."""


class Origin(NamedTuple):
    """Origin of a reported number: the mean of `averaged` runs, each the best on dev of `picked`."""

    averaged: int = 1
    picked: int = 1


def origin_of(seeds: int | None, picked: int | None = None) -> Origin:
    """Returns the origin of a number of `seeds` runs, each chosen from `picked`; None: not stated.

    An unstated choice is assumed only for numbers without stated seeds.
    """
    if picked is not None:
        return Origin(seeds or 1, picked)
    return Origin(1, MOST_PICKED) if seeds is None else Origin(seeds)


class PValues(NamedTuple):
    """p-values without adjustment for looks, by the null hypotheses that they test.

    same: that the level is off by more than the margin (equivalence test); level_differs: that it is within
    the margin; replicates: that the reported number is a result of the method; plug_in: the same for an exact
    mean and sd.
    """

    same: np.ndarray
    level_differs: np.ndarray
    replicates: np.ndarray
    plug_in: np.ndarray


def look_of(seeds: int) -> int:
    """Returns the last look that a number of seeds has reached, 0 before the first."""
    return max((look for look in LOOKS if look <= seeds), default=0)


def next_look(seeds: int) -> int | None:
    """Returns the next look, None after the last."""
    return min((look for look in LOOKS if look > seeds), default=None)


def over_looks(p: float) -> float:
    """Returns a p-value over all looks from one look's p-value: at most LEVEL if it is below AT_A_LOOK.

    Bonferroni's bound for small values; the joint level of the looks for a rejected test.
    """
    bound = len(LOOKS) * p
    return min(bound, LEVEL) if p < AT_A_LOOK else min(1.0, bound)


def p_values(
    difference: Any,
    sd: Any,
    seeds: int,
    *,
    origin: Origin,
    known: KnownSd | None = None,
    rounding: float = 0.0,
) -> PValues:
    """Returns the p-values of the tests at one look, for one study or an array of them.

    difference: our mean minus the reported number; sd: our sample standard deviation; both of any shape.
    Below `SMALL_SAMPLE` seeds the larger of two p-values counts, from our sd and from a larger study's sd.
    The reported number may be off by `rounding` in the direction that is unfavourable to the test.
    """
    laws = [(np.maximum(sd, 1e-12), seeds - 1)] if seeds > 1 else []
    if known is not None and seeds < statistics.SMALL_SAMPLE:
        laws.append((np.asarray(known.sd), known.n - 1))
    size = np.abs(difference)
    values = []
    for spread, freedom in laws:
        error = spread / np.sqrt(seeds)
        near = np.maximum(size - rounding, 0) * -np.sign(difference)
        values.append(
            (
                special.stdtr(freedom, -(MARGIN - rounding - size) / error),
                special.stdtr(freedom, -(size - MARGIN - rounding) / error),
                chance_beyond(near / spread, seeds, freedom, origin),
                chance_beyond(near / spread, ENDLESS, ENDLESS, origin),
            )
        )
    return PValues(*(np.max(part, axis=0) for part in zip(*values, strict=True)))


def chance_beyond(distance: Any, seeds: int, freedom: int, origin: Origin) -> Any:
    """Returns the two-sided p-value of a reported number `distance` standard deviations above our mean.

    Choosing on dev moves a number up, so its lower end is a single run's.
    """
    root = np.sqrt(1 / origin.averaged + 1 / seeds)
    below, above = special.stdtr(freedom, distance / root), special.stdtr(freedom, -distance / root)
    if origin.picked > 1:
        pivots = _picked_pivots(seeds, freedom, origin)
        above = 1 - np.searchsorted(pivots, distance) / len(pivots)
    return np.minimum(1.0, 2 * np.minimum(below, above))


def p_values_of_sources(
    difference: Any,
    sd: Any,
    counts: Sequence[int],
    *,
    origin: Origin,
    within: Any = None,
    borrowed: KnownSd | None = None,
    rounding: float = 0.0,
) -> PValues:
    """Returns the p-values of the tests by the means of sources, for one study or an array of them.

    difference: mean of the sources minus the reported number; sd: between the sources' means; both of any
    shape. counts: runs behind each source. within: variance between the runs of a source, of the same shape,
    None if it is not known. borrowed: the standard deviation between the runs of a larger study.

    The level is tested on the sources' mean. For the draw, the reported number is a result of another source:
    its variance is the variance between the means plus the part of the variance within a source that means of
    several runs hide; nan if that part is not known. Degrees of freedom: sources - 1, independent of the
    number of runs. A mean of bests counts as one best, because averaging does not undo the choice.

    Where a standard deviation is borrowed (`borrows`), the larger of both spreads counts, with the degrees of
    freedom of its study.
    """
    averaged = 1 if origin.picked > 1 else origin.averaged
    hidden = 1 / averaged - statistics.mean([1 / count for count in counts])
    spread = np.asarray(sd, dtype=float)
    variance = spread**2
    if hidden > 1e-9:
        variance = variance + hidden * (np.nan if within is None else np.asarray(within))

    def tests(spread: Any, variance: Any, freedom: int) -> PValues:
        size, error = np.abs(difference), np.maximum(spread, 1e-12) / np.sqrt(len(counts))
        near = np.maximum(size - rounding, 0) * -np.sign(difference)
        distance, kind = near / np.maximum(np.sqrt(variance), 1e-12), Origin(1, origin.picked)
        return PValues(
            same=special.stdtr(freedom, -(MARGIN - rounding - size) / error),
            level_differs=special.stdtr(freedom, -(size - MARGIN - rounding) / error),
            replicates=chance_beyond(distance, len(counts), freedom, kind),
            plug_in=chance_beyond(distance, ENDLESS, ENDLESS, kind),
        )

    own, lent = tests(spread, variance, len(counts) - 1), borrows(len(counts), spread, borrowed)
    if borrowed is None or not np.any(lent):
        return own
    wider = np.fmax(variance, np.asarray(borrowed.sd) ** 2 / averaged)
    others = tests(np.maximum(spread, borrowed.sd), wider, max(len(counts), borrowed.n) - 1)
    return PValues(*(np.where(lent, by_both, alone) for by_both, alone in zip(others, own, strict=True)))


def borrows(sources: int, sd: Any, borrowed: KnownSd | None) -> Any:
    """Returns whether sources are held to a borrowed standard deviation too, of the shape of `sd`, theirs:
    fewer than `SMALL_SAMPLE` that are not shown to vary more than it says (Fisher's F test at LEVEL). Where
    they do, the study that lends it does not know them.
    """
    if borrowed is None or borrowed.n < 2 or sources >= statistics.SMALL_SAMPLE:
        return np.zeros(np.shape(sd), dtype=bool)
    ratio = (np.asarray(sd) / borrowed.sd) ** 2
    return special.fdtrc(sources - 1, borrowed.n - 1, ratio) >= LEVEL


@cache
def _picked_pivots(seeds: int, freedom: int, origin: Origin, size: int = 400_000) -> np.ndarray:
    """Returns sorted draws of (mean of bests on dev - our mean) / our sd, for normal scores; [size]."""
    rng = np.random.default_rng([seeds, freedom, *origin])
    test = np.zeros(size)
    for _ in range(origin.averaged):
        best = special.ndtri(rng.random(size) ** (1 / origin.picked))
        test += DEV_CORRELATION * best + np.sqrt(1 - DEV_CORRELATION**2) * rng.normal(size=size)
    spread = np.sqrt(rng.chisquare(freedom, size) / freedom)
    return np.sort((test / origin.averaged - rng.normal(size=size) / np.sqrt(seeds)) / spread)


def collapsed_runs(values: Sequence[float]) -> list[float]:
    """Returns the runs far below their siblings, lowest first, at most a third of all.

    A run has collapsed if it is LEAST_DROP below the mean of the runs above it, and another run of their
    normal distribution would be that low with a probability below COLLAPSED / n; runs below a collapsed run
    have collapsed too (Grubbs 1950, from the inside outwards).
    """
    ordered = sorted(values)
    for count in range(len(ordered) // 3, 0, -1):
        rest, drop = ordered[count:], statistics.mean(ordered[count:]) - ordered[count - 1]
        spread = (statistics.sample_sd(rest) or 0.0) * np.sqrt(1 + 1 / len(rest))
        if drop >= LEAST_DROP and special.stdtr(len(rest) - 1, -drop / max(spread, 1e-12)) < (
            COLLAPSED / len(ordered)
        ):
            return ordered[:count]
    return []
