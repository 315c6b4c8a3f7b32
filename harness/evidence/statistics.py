"""Statistics of few seeds: standard deviation, intervals, tests and power; values may be in any unit."""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from scipy import special

SMALL_SAMPLE = 10
"""Number of seeds below which the standard deviation of a larger study is a lower bound of ours."""


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
def student(freedom: int, confidence: float) -> float:
    """Returns the two-sided critical value of Student's t."""
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
    from scipy.stats import ttest_ind  # takes a second to import

    test = ttest_ind(ours, theirs, equal_var=False)
    interval = test.confidence_interval(confidence)
    return WelchComparison(
        mean(ours) - mean(theirs), float(interval.low), float(interval.high), float(test.pvalue)
    )


def power(difference: float, sd: float, n: int, level: float) -> float:
    """Returns the power of a two-sided t test for a true difference of two methods with n seeds each."""
    from statsmodels.stats.power import TTestIndPower  # takes seconds to import

    return float(TTestIndPower().power(effect_size=abs(difference) / sd, nobs1=n, alpha=level))
