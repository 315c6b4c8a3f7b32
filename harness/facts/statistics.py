"""What a handful of seeds says about a published number: standard deviation, tests and power.

Values may be in any unit as long as one call keeps to it. Every function is pure; randomness is an argument.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from scipy import special

TEST_LEVEL = 0.05
"""Of a two-sided test for which seeds are planned."""
SMALL_SAMPLE = 10
"""Below this many seeds the known standard deviation of a larger study is a floor for our own."""


class KnownSd(NamedTuple):
    """A standard deviation between seeds by a study of n seeds; n 0 and sd 0 where no seed plays a part."""

    sd: float
    n: int


class Comparison(NamedTuple):
    """A comparison of two sets of seeds: difference of the means, its interval (95 % unless
    another confidence was asked for), two-sided p."""

    difference: float
    low: float
    high: float
    p: float


class BestByDev(NamedTuple):
    """What picking the best of k seeds by development score yields on the test set.

    expected: mean test score of the picked seed; place: probability that it is below the published value.
    """

    expected: float
    place: float


def mean(values: Sequence[float]) -> float:
    """Returns the arithmetic mean."""
    return math.fsum(values) / len(values)


def sample_sd(values: Sequence[float]) -> float | None:
    """Returns the sample standard deviation (divisor n - 1), None below two values."""
    if len(values) < 2:
        return None
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def sd_interval(sd: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Returns the chi-square interval for a standard deviation that n seeds show as `sd`."""
    tail = (1 - confidence) / 2
    freedom = n - 1
    low, high = (2 * float(special.gammaincinv(freedom / 2, share)) for share in (tail, 1 - tail))
    return sd * math.sqrt(freedom / high), sd * math.sqrt(freedom / low)


def best_by_dev(values: Sequence[float], dev: Sequence[float], k: int, published: float) -> BestByDev:
    """Returns what a paper would report that trains k seeds and keeps the one with the best dev score.

    Exact over all subsets of k of our n seeds: the seed with the r-th best dev score (r = 0, 1, ...) is
    picked in C(n - 1 - r, k - 1) of C(n, k) subsets. Of equal dev scores the earlier seed wins.
    Errors: ValueError if the lengths differ or k is not in 1..n.
    """
    n = len(values)
    if len(dev) != n or not 1 <= k <= n:
        raise ValueError(
            f"{n} values, {len(dev)} dev scores and k={k}: expected equal lengths and 1 <= k <= n"
        )
    order = sorted(range(n), key=lambda index: -dev[index])
    chances = [math.comb(n - 1 - rank, k - 1) / math.comb(n, k) for rank in range(n)]
    picked = [(chance, values[index]) for chance, index in zip(chances, order, strict=True)]
    return BestByDev(
        expected=math.fsum(chance * value for chance, value in picked),
        place=math.fsum(chance for chance, value in picked if value < published),
    )


def welch_test(ours: Sequence[float], theirs: Sequence[float], *, confidence: float = 0.95) -> Comparison:
    """Returns Welch's test for two sets of independent seeds (unequal variances)."""
    from scipy.stats import ttest_ind  # takes a second to import

    found = ttest_ind(ours, theirs, equal_var=False)
    interval = found.confidence_interval(confidence)
    return Comparison(
        mean(ours) - mean(theirs), float(interval.low), float(interval.high), float(found.pvalue)
    )


def compare_seeds(
    ours: Sequence[float], theirs: Sequence[float], *, confidence: float = 0.95
) -> Comparison | None:
    """Returns Welch's test, or the exact difference if neither side varies; None below two seeds a side."""
    if min(len(ours), len(theirs)) < 2:
        return None
    if len(set(ours)) == len(set(theirs)) == 1:
        difference = ours[0] - theirs[0]
        return Comparison(difference, difference, difference, float(difference == 0))
    return welch_test(ours, theirs, confidence=confidence)


def power(difference: float, sd: float, n: int, *, samples: int = 2) -> float:
    """Returns the chance that a two-sided t test at TEST_LEVEL shows a true difference with n seeds a side.

    samples: 2 compares two methods with n seeds each, 1 compares our n seeds with one fixed published value.
    """
    from scipy.stats import nct  # takes a second to import

    freedom = samples * (n - 1)
    shift = abs(difference) / sd * math.sqrt(n / samples)
    critical = special.stdtrit(freedom, 1 - TEST_LEVEL / 2)
    return float(nct.sf(critical, freedom, shift) + nct.cdf(-critical, freedom, shift))


def seeds_needed(difference: float, sd: float, *, samples: int = 2, target: float = 0.8) -> int:
    """Returns the smallest number of seeds a side with which `power` reaches `target`.

    The search starts at the normal approximation, which is never above the answer; beyond 10,000 seeds it is
    the answer. Errors: ValueError for a zero difference or a negative sd.
    """
    if difference == 0 or sd < 0:
        raise ValueError(f"difference {difference} and sd {sd}: expected a non-zero difference and sd >= 0")
    quantiles = special.ndtri(1 - TEST_LEVEL / 2) + special.ndtri(target)
    n = max(2, math.ceil(samples * (quantiles * sd / difference) ** 2))
    while sd > 0 and n <= 10_000 and power(difference, sd, n, samples=samples) < target:
        n += 1
    return n
