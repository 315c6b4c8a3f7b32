"""Statistics of few seeds: standard deviation, intervals, tests and power; values may be in any unit."""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import special

SMALL_SAMPLE = 10
"""Number of seeds below which the standard deviation of a larger study is a lower bound of ours."""


ROUNDING = 1e-9
"""Differences up to this are rounding of the last bits."""


class Interval(NamedTuple):
    """From low to high, both included."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Returns whether a value lies in the interval."""
        return self.low <= value <= self.high


class KnownSd(NamedTuple):
    """A standard deviation between seeds from a study of n seeds; n 0 and sd 0 for a deterministic system."""

    sd: float
    n: int


class StandardError(NamedTuple):
    """The standard error of a difference of two means, with its degrees of freedom, inf if it is known.

    systems: number of systems of which all pairs are compared. Two: Student's t; more: the studentized range
    with the pair's own variances, which keeps the level for unequal variances (Games and Howell 1976).
    """

    size: float
    freedom: float
    systems: int = 2

    def reach(self, level: float) -> float:
        """Returns half the width of the interval with confidence 1 - level."""
        if not self.size:
            return 0.0
        if self.systems == 2:
            return student(self.freedom, 1 - level) * self.size
        from statsmodels.stats.libqsturng import qsturng  # takes a second to import

        return float(qsturng(1 - level, self.systems, self.freedom)) / math.sqrt(2) * self.size

    def p(self, difference: float) -> float:
        """Returns the two-sided p-value; of several systems at least 0.001, the end of its table."""
        if not self.size:
            return float(abs(difference) <= ROUNDING)
        distance = abs(difference) / self.size
        if self.systems == 2:
            return 2 * float(special.stdtr(self.freedom, -distance))
        from statsmodels.stats.libqsturng import psturng  # takes a second to import

        return float(np.squeeze(psturng(math.sqrt(2) * distance, self.systems, self.freedom)))

    def interval(self, difference: float, level: float) -> Interval:
        """Returns the interval of the difference with confidence 1 - level."""
        reach = self.reach(level)
        return Interval(difference - reach, difference + reach)

    def with_known(self, size: float) -> "StandardError":
        """Returns the standard error of a sum with an independent part whose standard error is known.

        Degrees of freedom: Satterthwaite 1946.
        """
        total = math.hypot(self.size, size)
        freedom = self.freedom * (total / self.size) ** 4 if self.size else math.inf
        return StandardError(total, freedom, self.systems)

    def detectable(self, level: float, chance: float) -> float:
        """Returns the true difference that a two-sided t test at `level` finds with probability `chance`, if
        the standard error is as measured."""
        from scipy.optimize import brentq

        if not self.size:
            return 0.0
        bound = self.reach(level) / self.size

        def missing(distance: float) -> float:
            if math.isinf(self.freedom):
                return float(special.ndtr(distance - bound)) - chance
            return float(1 - special.nctdtr(self.freedom, distance, bound)) - chance

        return self.size * float(brentq(missing, 0, 4 * bound + 10))


def welch(ours: Sequence[float], theirs: Sequence[float], *, systems: int = 2) -> StandardError | None:
    """Returns the standard error of the difference of two independent means with unequal variances. A
    side with one value is known without error; None if both are, or if neither side varies.

    Degrees of freedom: Welch 1947.
    """
    parts = [((sample_sd(side) or 0.0) ** 2 / len(side), len(side) - 1) for side in (ours, theirs)]
    variance = math.fsum(part for part, _ in parts)
    if not variance:
        return None
    freedom = variance**2 / math.fsum(part**2 / count for part, count in parts if part)
    return StandardError(math.sqrt(variance), freedom, systems)


class WelchComparison(NamedTuple):
    """A comparison of two sets of seeds: difference of the means, its interval (95 % unless
    another confidence was asked for), two-sided p."""

    difference: float
    low: float
    high: float
    p: float


def mean(values: Sequence[float]) -> float:
    """Returns the arithmetic mean."""
    return math.fsum(values) / len(values)


def sample_sd(values: Sequence[float]) -> float | None:
    """Returns the sample standard deviation (divisor n - 1), None below two values."""
    if len(values) < 2:
        return None
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


@cache
def student(freedom: float, confidence: float) -> float:
    """Returns the two-sided critical value of Student's t; freedom inf: of the normal distribution."""
    if math.isinf(freedom):
        return float(special.ndtri((1 + confidence) / 2))
    return float(special.stdtrit(freedom, (1 + confidence) / 2))


def half_width(values: Sequence[float], *, known: KnownSd | None, confidence: float) -> float | None:
    """Returns half the width of the interval of our expected score; None if not known.

    The wider of two intervals counts: Student's t with n - 1 degrees of freedom from our seeds (two or more),
    and, with fewer than `SMALL_SAMPLE` seeds, t from a larger study's standard deviation with its degrees of
    freedom. A few seeds that happen to agree are thus no proof, and a study that does not fit our runs does
    not narrow an interval. A study of n = 0 has no error: the system is deterministic.
    """
    if known is not None and known.n == 0:
        return 0.0
    count, sd, widths = len(values), sample_sd(values), []
    if sd is not None:
        widths.append(student(count - 1, confidence) * sd / math.sqrt(count))
    if known is not None and count < SMALL_SAMPLE:
        widths.append(student(known.n - 1, confidence) * known.sd / math.sqrt(count))
    return max(widths, default=None)


def mean_interval(values: Sequence[float], confidence: float) -> Interval | None:
    """Returns Student's interval of the expected value; None below two values."""
    half = half_width(values, known=None, confidence=confidence)
    centre = mean(values)
    return None if half is None else Interval(centre - half, centre + half)


def compare_seeds(
    ours: Sequence[float], theirs: Sequence[float], *, confidence: float = 0.95
) -> WelchComparison | None:
    """Returns Welch's test of two sets of independent seeds (unequal variances); None below two seeds per
    side, and if all seeds of a side have the same score, which is an error in the data.
    """
    if min(len(set(ours)), len(set(theirs))) < 2:
        return None
    error, difference = welch(ours, theirs), mean(ours) - mean(theirs)
    assert error is not None
    return WelchComparison(difference, *error.interval(difference, 1 - confidence), error.p(difference))


def power(difference: float, sd: float, n: int, level: float) -> float:
    """Returns the power of a two-sided t test for a true difference of two methods with n seeds each."""
    from statsmodels.stats.power import TTestIndPower  # takes seconds to import

    return float(TTestIndPower().power(effect_size=abs(difference) / sd, nobs1=n, alpha=level))
