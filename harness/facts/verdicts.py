"""Does a published number hold? The rules, in one place, for every page and table.

Two questions are answered apart. *Is it typical?* is about our expected score, the mean over endless seeds:
`typical`. *Is it a plausible draw?* is about a printed single run among single runs: `drawn`. What can be
said without a run of ours is `by_others`; `finding` puts the answers on the one scale of words that readers
see.

Numbers are in points (raw scores times 100) throughout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from harness.facts import statistics
from harness.facts.intervals import Interval, Share, half_width, percentile, prediction_interval
from harness.facts.statistics import KnownSpread

MARGIN = 0.5
"""Points within which two scores count as the same."""

LEVEL = 0.05
"""Chance of an error that each one-sided test of `typical` allows; its interval covers 1 - 2 LEVEL."""

FEW_RUNS = 5
"""Below this many draws a value inside their prediction interval says nothing: it holds almost all."""

OURS = "our seeds"
"""The source that our own runs are."""

FEW_SOURCES = 3
"""Sources without which others' runs settle nothing: one implementation can be wrong in all of its seeds."""

Typical = Literal["confirmed", "lower than printed", "higher than printed", "not settled"]
"""Our expected score is within the margin of the print, lower or higher by more than that, or open."""

Drawn = Literal["plausible draw", "lucky draw", "unlucky draw", "out of reach", "too few runs"]
"""A printed single run: among the runs, surely in their upper or lower quarter, or beyond their reach."""

ByOthers = Literal[
    "others confirm",
    "others find less",
    "others find more",
    "others do not settle it",
    "only its authors",
    "untested",
]
"""What holds without a run of ours. Only its authors: others' runs were looked for and not found, or its
authors gave it a second time. Untested: nothing beside the print is known."""

Finding = Typical | ByOthers
"""The one scale of the site: a word of `Typical` for a cell with seeds of ours, of `ByOthers` without."""

FINDINGS: tuple[Finding, ...] = (*get_args(Typical), *get_args(ByOthers))


@dataclass(frozen=True)
class Typicality:
    """The answer to "is it typical?". difference: our mean minus the print; interval: of the expected one.

    The interval is None, and nothing settled, where one seed has no known spread to be judged by.
    """

    answer: Typical
    difference: float
    interval: Interval | None
    seeds: int


@dataclass(frozen=True)
class Draw:
    """The answer to "is it a plausible draw?". place: of the print among `runs` single runs of `sources`,
    each source of others counted once.

    reach: where one more run is expected (`reach_of`).
    """

    answer: Drawn
    place: Share | None
    reach: Interval | None
    runs: int
    sources: int


@dataclass(frozen=True)
class OthersAnswer:
    """What others' runs say. difference: mean of the sources' values minus the print, with its interval."""

    answer: ByOthers
    difference: float | None
    interval: Interval | None
    sources: int


def typical(
    values: Sequence[float],
    printed: float,
    *,
    printed_seeds: int | None,
    known: KnownSpread | None = None,
    rounding: float = 0.0,
    margin: float = MARGIN,
) -> Typicality:
    """Returns whether our expected score is the printed one, by two one-sided tests read off one interval.

    The interval of the difference covers 1 - 2 LEVEL = 90 % (`intervals.half_width`), widened by the
    rounding of the print. Confirmed: it lies within -+ margin. Lower or higher than printed: it lies
    beyond. Not settled: neither. So, whatever is true, a difference above the margin is called confirmed in
    at most 5 % of studies, and one within the margin lower or higher in at most 5 %.

    printed_seeds: k where the print is a mean of k >= 2 seeds and has an error of its own. A single printed
    run, or one of unknown seeds, is a fixed number here: what luck did to it is the question of `drawn`.
    Errors: ValueError without values or with a margin that is not positive.
    """
    if not values or margin <= 0:
        raise ValueError(f"{len(values)} values, margin {margin}: expected a value and a positive margin")
    difference = statistics.mean(values) - printed
    averaged = printed_seeds if printed_seeds and printed_seeds > 1 else 0
    half = half_width(values, known=known, confidence=1 - 2 * LEVEL, printed_seeds=averaged)
    if half is None:
        return Typicality("not settled", difference, None, len(values))
    interval = Interval(difference - half - rounding, difference + half + rounding)
    return Typicality(side_of(interval, margin), difference, interval, len(values))


def side_of(interval: Interval, margin: float = MARGIN) -> Typical:
    """Returns where the interval of a difference lies; a hair's breadth is left for sums of floats."""
    hair = 1e-9
    if -margin - hair <= interval.low and interval.high <= margin + hair:
        return "confirmed"
    if interval.high < -margin - hair:
        return "lower than printed"
    return "higher than printed" if interval.low > margin + hair else "not settled"


def drawn(runs: Mapping[str, Sequence[float]], printed: float, *, rounding: float = 0.0) -> Draw:
    """Returns whether a printed single run could be one of `runs`, the single runs of each source.

    A source of others is one draw however many runs it has, for all of them are of one implementation; each
    of our seeds is one (`OURS`). Out of reach: outside of the 95 % reach of one more run (`reach_of`).
    Otherwise, with fewer than FEW_RUNS draws, too few runs. Lucky or unlucky: the Clopper-Pearson interval
    of the share of draws below the print lies above 3/4 or below 1/4. Plausible: the rest.
    """
    some = {source: values for source, values in runs.items() if values}
    count = sum(len(values) for values in some.values())
    if not some:
        return Draw("too few runs", None, None, 0, 0)
    draws = [[value] for value in some.get(OURS, ())]
    draws += [list(values) for source, values in some.items() if source != OURS]
    place = percentile(draws, printed, rounding=rounding)
    reach = reach_of(some)
    if reach is not None and not (reach.low - rounding <= printed <= reach.high + rounding):
        return Draw("out of reach", place, reach, count, len(some))
    return Draw(_luck(place, len(draws)), place, reach, count, len(some))


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


def _luck(place: Share, draws: int) -> Drawn:
    if draws < FEW_RUNS:
        return "too few runs"
    if place.interval.low > 0.75:
        return "lucky draw"
    return "unlucky draw" if place.interval.high < 0.25 else "plausible draw"


def by_others(
    sources: Mapping[str, float],
    printed: float,
    *,
    same_authors: bool,
    searched: bool,
    rounding: float = 0.0,
    margin: float = MARGIN,
) -> OthersAnswer:
    """Returns what independent re-runs say, each source counted once however many runs it has.

    sources: one value for each who measured. With FEW_SOURCES or more, Student's interval of their mean
    minus the print is read as in `typical`; with one or two, nothing is settled. Without any: only its
    authors if they measured it a second time (`same_authors`) or re-runs were looked for (`searched`), else
    untested.
    """
    values = list(sources.values())
    if not values:
        alone: ByOthers = "only its authors" if same_authors or searched else "untested"
        return OthersAnswer(alone, None, None, 0)
    difference = statistics.mean(values) - printed
    if len(values) < FEW_SOURCES:
        return OthersAnswer("others do not settle it", difference, None, len(values))
    words: dict[Typical, ByOthers] = {
        "confirmed": "others confirm",
        "lower than printed": "others find less",
        "higher than printed": "others find more",
        "not settled": "others do not settle it",
    }
    found = typical(values, printed, printed_seeds=None, rounding=rounding, margin=margin)
    return OthersAnswer(words[found.answer], difference, found.interval, len(values))


def finding(ours: Typicality | None, others: OthersAnswer) -> Finding:
    """Returns the one word of a cell: by our seeds where there are any, else by others' runs."""
    return others.answer if ours is None else ours.answer
