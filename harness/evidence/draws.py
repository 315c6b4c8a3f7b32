"""The percentile of a reported single run among several runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scipy import special

from harness.evidence.statistics import Interval

OURS = "our seeds"
"""Name of our runs as a source."""


class Share(NamedTuple):
    """A share of runs with its 95 % interval; both in [0, 1]."""

    value: float
    interval: Interval


@dataclass(frozen=True)
class RunPercentile:
    """A reported single run among `runs` single runs of `sources`; each independent source counts once.

    share: of the draws below it; above: number of runs above it.
    """

    share: Share
    above: int
    runs: int
    sources: int


def placed(runs: Mapping[str, Sequence[float]], reported: float, *, rounding: float = 0.0) -> RunPercentile:
    """Returns the percentile of a reported single run among `runs`, the single runs by source. An
    independent source is one draw, because all its runs have the same implementation; each of our seeds is
    one draw (`OURS`).
    """
    draws: list[Sequence[float]] = [[value] for value in runs.get(OURS, ())]
    draws += [values for source, values in runs.items() if source != OURS]
    above = sum(value > reported + rounding + 1e-9 for values in runs.values() for value in values)
    share = percentile(draws, reported, rounding=rounding)
    return RunPercentile(share, above, sum(map(len, runs.values())), len(runs))


def percentile(draws: Sequence[Sequence[float]], reported: float, *, rounding: float = 0.0) -> Share:
    """Returns the share of draws below a reported value, ties counted half, with its 95 % interval.

    A draw is one run, or several runs with equal weights that sum to 1. Runs within `rounding` of the value
    are ties. The interval is Clopper and Pearson's for the true share of draws below the value; it extends
    from the lower end without ties to the upper end with all ties, and parts of a draw are rounded outwards.
    It covers at least 95 %.
    """
    slack, count = rounding + 1e-9, len(draws)
    below = math.fsum(sum(run < reported - slack for run in runs) / len(runs) for runs in draws)
    not_above = math.fsum(sum(run <= reported + slack for run in runs) / len(runs) for runs in draws)
    low = clopper_pearson(math.floor(below + 1e-9), count).low
    high = clopper_pearson(math.ceil(not_above - 1e-9), count).high
    return Share((below + not_above) / 2 / count, Interval(low, high))


def clopper_pearson(successes: int, trials: int) -> Interval:
    """Returns the exact binomial 95 % interval of a probability, after `successes` in `trials`.

    Source: Clopper and Pearson 1934.
    """
    low = special.bdtri(successes - 1, trials, 0.975) if successes else 0.0
    high = special.bdtri(successes, trials, 0.025) if successes < trials else 1.0
    return Interval(round(float(low), 12), round(float(high), 12))  # 1 of 1: 0.025 on every processor
