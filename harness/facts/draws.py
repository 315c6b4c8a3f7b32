"""Whether a reported single run could be one of some runs: its percentile, and the reach of one more run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from scipy import special

from harness.facts import statistics
from harness.facts.statistics import Interval, student
from harness.facts.verdicts import FEW_SOURCES

FEW_RUNS = 5
"""Below this many draws a value inside their prediction interval says nothing: it holds almost all."""

OURS = "our seeds"
"""The source that our own runs are."""

Drawn = Literal["plausible draw", "lucky draw", "unlucky draw", "out of reach", "too few runs"]
"""A reported single run: among the runs, surely in their upper or lower quarter, or beyond their reach."""


class Share(NamedTuple):
    """A share of runs with its 95 % interval; both in [0, 1]."""

    value: float
    interval: Interval


@dataclass(frozen=True)
class Draw:
    """A reported single run among `runs` single runs of `sources`, each source of others counted once.

    place: its percentile; reach: where one more run is expected (`reach_of`).
    """

    answer: Drawn
    place: Share
    reach: Interval | None
    runs: int
    sources: int


def drawn(runs: Mapping[str, Sequence[float]], reported: float, *, rounding: float = 0.0) -> Draw:
    """Returns whether a reported single run could be one of `runs`, the single runs of each source that has
    some.

    A source of others is one draw however many runs it has, for all of them are of one implementation; each
    of our seeds is one (`OURS`). Out of reach: outside of the 95 % reach of one more run (`reach_of`).
    Otherwise, with fewer than FEW_RUNS draws, too few runs. Lucky or unlucky: the Clopper-Pearson interval
    of the share of draws below the number lies above 3/4 or below 1/4. Plausible: the rest.
    """
    draws: list[Sequence[float]] = [[value] for value in runs.get(OURS, ())]
    draws += [values for source, values in runs.items() if source != OURS]
    place, reach = percentile(draws, reported, rounding=rounding), reach_of(runs)
    below, above = place.interval
    answer: Drawn = "lucky draw" if below > 0.75 else "unlucky draw" if above < 0.25 else "plausible draw"
    if len(draws) < FEW_RUNS:
        answer = "too few runs"
    if reach is not None and not (reach.low - rounding <= reported <= reach.high + rounding):
        answer = "out of reach"
    return Draw(answer, place, reach, sum(map(len, runs.values())), len(runs))


def reach_of(runs: Mapping[str, Sequence[float]]) -> Interval | None:
    """Returns where one more run is expected, 95 %; None where too little is known.

    Our seeds alone: the prediction interval of these runs. Three sources or more: that of all runs, widened
    to that of the sources' means, for sources differ by more than their seeds do. Two sources, or one of
    others, do not say by how much.
    """
    means = [statistics.mean(values) for values in runs.values()]
    within = prediction_interval([value for values in runs.values() for value in values])
    if within is None or set(runs) == {OURS}:
        return within
    between = prediction_interval(means) if len(means) >= FEW_SOURCES else None
    if between is None:
        return None
    return Interval(min(within.low, between.low), max(within.high, between.high))


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
    """Returns the share of draws below a reported value, ties counted half, with its 95 % interval.

    A draw is one run, or several that count as one: then its part below the value counts. Runs within
    `rounding` of it are ties. The interval is Clopper and Pearson's of the true share of draws below the
    value; with ties it reaches from the lower end without to the upper end with all of them, and parts of a
    draw are rounded outwards. It covers at least 95 %.
    """
    slack, count = rounding + 1e-9, len(draws)
    below = math.fsum(sum(run < reported - slack for run in runs) / len(runs) for runs in draws)
    not_above = math.fsum(sum(run <= reported + slack for run in runs) / len(runs) for runs in draws)
    low = clopper_pearson(math.floor(below + 1e-9), count).low
    high = clopper_pearson(math.ceil(not_above - 1e-9), count).high
    return Share((below + not_above) / 2 / count, Interval(low, high))


def clopper_pearson(successes: int, trials: int) -> Interval:
    """Returns the exact binomial 95 % interval of a chance of which `trials` showed `successes`.

    Source: Clopper and Pearson 1934.
    """
    failures = trials - successes
    low = special.betaincinv(successes, failures + 1, 0.025) if successes else 0.0
    high = special.betaincinv(successes + 1, failures, 0.975) if failures else 1.0
    return Interval(round(float(low), 12), round(float(high), 12))  # 1 of 1: 0.025 on every processor
