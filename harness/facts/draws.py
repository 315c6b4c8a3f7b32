"""Whether a reported single run could be one of some runs: its percentile, and the reach of one more run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.facts import statistics
from harness.facts.intervals import Interval, Share, percentile, prediction_interval
from harness.facts.verdicts import FEW_SOURCES

FEW_RUNS = 5
"""Below this many draws a value inside their prediction interval says nothing: it holds almost all."""

OURS = "our seeds"
"""The source that our own runs are."""

Drawn = Literal["plausible draw", "lucky draw", "unlucky draw", "out of reach", "too few runs"]
"""A reported single run: among the runs, surely in their upper or lower quarter, or beyond their reach."""


@dataclass(frozen=True)
class Draw:
    """A reported single run among `runs` single runs of `sources`, each source of others counted once.

    place: its percentile; reach: where one more run is expected (`reach_of`).
    """

    answer: Drawn
    place: Share | None
    reach: Interval | None
    runs: int
    sources: int


def drawn(runs: Mapping[str, Sequence[float]], reported: float, *, rounding: float = 0.0) -> Draw:
    """Returns whether a reported single run could be one of `runs`, the single runs of each source.

    A source of others is one draw however many runs it has, for all of them are of one implementation; each
    of our seeds is one (`OURS`). Out of reach: outside of the 95 % reach of one more run (`reach_of`).
    Otherwise, with fewer than FEW_RUNS draws, too few runs. Lucky or unlucky: the Clopper-Pearson interval
    of the share of draws below the number lies above 3/4 or below 1/4. Plausible: the rest.
    """
    some = {source: values for source, values in runs.items() if values}
    count = sum(len(values) for values in some.values())
    if not some:
        return Draw("too few runs", None, None, 0, 0)
    draws = [[value] for value in some.get(OURS, ())]
    draws += [list(values) for source, values in some.items() if source != OURS]
    place = percentile(draws, reported, rounding=rounding)
    reach = reach_of(some)
    if reach is not None and not (reach.low - rounding <= reported <= reach.high + rounding):
        return Draw("out of reach", place, reach, count, len(some))
    answer: Drawn = "too few runs"
    if len(draws) >= FEW_RUNS:
        below, above = place.interval
        answer = "lucky draw" if below > 0.75 else "unlucky draw" if above < 0.25 else "plausible draw"
    return Draw(answer, place, reach, count, len(some))


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
