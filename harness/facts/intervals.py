"""Intervals of a difference, of one more run, and of a share; all exact under the laws they name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from scipy import special

from harness.facts import statistics
from harness.facts.statistics import KnownSd


class Interval(NamedTuple):
    """From low to high, both included."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Returns whether a value lies in the interval."""
        return self.low <= value <= self.high


class Share(NamedTuple):
    """A share of runs with its 95 % interval; both in [0, 1]."""

    value: float
    interval: Interval


@cache
def student(freedom: int, confidence: float) -> float:
    """Returns the two-sided critical value of Student's t."""
    return float(special.stdtrit(freedom, (1 + confidence) / 2))


def half_width(values: Sequence[float], *, known: KnownSd | None, confidence: float) -> float | None:
    """Returns half the width of the interval of our expected score; None if not known.

    Two intervals are possible and the wider one is taken: by our own seeds, Student's t with n - 1 degrees
    of freedom (from two seeds on), and with fewer than `SMALL_SAMPLE` seeds by a larger study's standard
    deviation, t with its degrees of freedom. So a few seeds that happen to agree prove nothing, and a study
    that does not fit our runs never makes an interval narrower. A study of n = 0 has no error: the system is
    deterministic.
    """
    count = len(values)
    widths = []
    sd = statistics.sample_sd(values)
    if known is not None and known.n == 0:
        return 0.0
    if sd is not None:
        widths.append(student(count - 1, confidence) * sd / math.sqrt(count))
    if known is not None and count < statistics.SMALL_SAMPLE:
        widths.append(student(known.n - 1, confidence) * known.sd / math.sqrt(count))
    return max(widths, default=None)


def mean_interval(values: Sequence[float], confidence: float) -> Interval | None:
    """Returns Student's interval of the expected value; None below two values."""
    half = half_width(values, known=None, confidence=confidence)
    centre = statistics.mean(values)
    return None if half is None else Interval(centre - half, centre + half)


def prediction_interval(values: Sequence[float]) -> Interval | None:
    """Returns where one more run of the same normal law falls with 95 %; None below two runs.

    Source: mean -+ t(n - 1) s sqrt(1 + 1/n).
    """
    sd = statistics.sample_sd(values)
    if sd is None:
        return None
    half = student(len(values) - 1, 0.95) * sd * math.sqrt(1 + 1 / len(values))
    return Interval(statistics.mean(values) - half, statistics.mean(values) + half)


def percentile(draws: Sequence[Sequence[float]], reported: float, *, rounding: float = 0.0) -> Share:
    """Returns the share of draws below a reported value, ties counted half, with the Clopper-Pearson
    interval.

    A draw is one run, or several that count as one: then its part below the value counts. Runs within
    `rounding` of it are ties. The interval is that of the true share of draws below the value; with ties it
    reaches from the lower end without to the upper end with all of them, and parts of a draw are rounded
    outwards. It covers at least 95 %. Errors: ValueError without a draw or with an empty one.
    """
    if not draws or not all(draws):
        raise ValueError("the place among no runs is not defined; expected at least one value in each draw")
    slack, count = rounding + 1e-9, len(draws)
    below = math.fsum(sum(run < reported - slack for run in runs) / len(runs) for runs in draws)
    not_above = math.fsum(sum(run <= reported + slack for run in runs) / len(runs) for runs in draws)
    low = clopper_pearson(math.floor(below + 1e-9), count).low
    high = clopper_pearson(math.ceil(not_above - 1e-9), count).high
    return Share((below + not_above) / 2 / count, Interval(low, high))


def clopper_pearson(successes: int, trials: int) -> Interval:
    """Returns the exact binomial 95 % interval of a chance of which `trials` showed `successes`.

    Source: Clopper and Pearson 1934.
    Errors: ValueError unless 0 <= successes <= trials and trials >= 1.
    """
    if not (trials >= 1 and 0 <= successes <= trials):
        raise ValueError(f"{successes} of {trials}: expected 0 <= successes <= trials and a trial")
    failures = trials - successes
    low = special.betaincinv(successes, failures + 1, 0.025) if successes else 0.0
    high = special.betaincinv(successes + 1, failures, 0.975) if failures else 1.0
    return Interval(round(float(low), 12), round(float(high), 12))  # 1 of 1: 0.025 on every processor
