"""Verdicts on a reported number, from two answers, for tables, pages and commands.

The *level* is the position of the runs' mean, the *draw* whether the reported number is plausible among
numbers of its kind. Both are computed for our seeds and for independent runs (`number_tests` has the tests);
`words` has the word of each verdict.

Numbers are in points (raw scores times 100) throughout.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.evidence import statistics
from harness.evidence.number_tests import (
    AMONG_BORROWED,
    AMONG_SOURCES,
    AT_A_LOOK,
    INTERVAL,
    LEVEL,
    LOOKS,
    MARGIN,
    Origin,
    PValues,
    borrows,
    chance_beyond,
    collapsed_runs,
    look_of,
    over_looks,
    p_values,
    p_values_of_sources,
)
from harness.evidence.statistics import SMALL_SAMPLE, Interval, KnownSd, half_width
from harness.evidence.words import DRAWS, LEVELS, By, Draw, Level, Verdict

FEW_SOURCES = 3
"""Independent sources required for a verdict: one implementation can be wrong in all seeds."""


@dataclass(frozen=True)
class Judgement:
    """Judgement of runs on a reported number: by our seeds, or by independent sources.

    difference: mean of the runs minus the number, None without runs; interval: of that difference, with
    confidence INTERVAL by ours and 1 - 2 LEVEL by others, None if the standard deviation is not known. count:
    seeds up to the last look, or sources; runs if `source` alone judges. p: that both answers are off,
    adjusted for looks; 1 if no verdict is due. collapsed: runs far below their siblings; without: the
    judgement of the other runs, None if no run collapsed. fault: an error in the data that prevents a
    verdict. apart: a source of many runs and the sources that differ from it by more than seeds do, so that
    it does not judge alone.
    """

    verdict: Verdict
    difference: float | None = None
    interval: Interval | None = None
    count: int = 0
    p: float = 1.0
    collapsed: tuple[float, ...] = ()
    without: "Judgement | None" = None
    fault: str = ""
    source: str = ""
    apart: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sources:
    """Independent sources of a number: mean, number of runs and, if known, single runs of each."""

    means: Mapping[str, float]
    counts: Mapping[str, int]
    runs: Mapping[str, Sequence[float]]

    def within(self) -> float | None:
        """Returns the pooled variance between the runs of a source; None if no source has two runs."""
        lists = [values for values in self.runs.values() if len(values) > 1]
        squares = [(len(values) - 1) * (statistics.sample_sd(values) or 0.0) ** 2 for values in lists]
        return math.fsum(squares) / sum(len(values) - 1 for values in lists) if lists else None


def answers_at_a_look(
    tests: PValues, difference: object, level: float = AT_A_LOOK, draw_level: float = AT_A_LOOK
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the answers as positions in LEVELS and in DRAWS, for one study or many.

    Within half a point: equivalence is significant. Lower, higher: a larger difference is significant; all at
    `level`. Outside: outside the prediction interval at `draw_level`. Inside: within the 95 % range by mean
    and sd, which few seeds do not widen. Not known: its p-values are nan.
    """
    side = np.where(np.asarray(difference) < 0, LEVELS.index("lower"), LEVELS.index("higher"))
    off = np.where(tests.level_differs < level, side, LEVELS.index("not known"))
    where = np.where(tests.same < level, LEVELS.index("within half a point"), off)
    far = np.where(tests.replicates < draw_level, DRAWS.index("outside"), DRAWS.index("at the edge"))
    drawn = np.where(tests.plug_in >= LEVEL, DRAWS.index("inside"), far)
    return where, np.where(np.isnan(tests.replicates), DRAWS.index("not known"), drawn)


def answers_by_sources(
    tests: PValues, difference: object, draw_level: float = AMONG_SOURCES
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the answers from the p-values of sources, like `answers_at_a_look`."""
    return answers_at_a_look(tests, difference, LEVEL, draw_level)


def judge(
    values: Sequence[float],
    reported: float,
    *,
    origin: Origin,
    known: KnownSd | None = None,
    rounding: float = 0.0,
    in_order: int | None = None,
) -> Judgement:
    """Returns the judgement of our seeds on a reported number; the seeds up to the last look count, in order.

    known: the standard deviation of a larger study, n = 0 for a deterministic system, for which one run is
    enough. in_order: number of values that are the first declared seeds without a gap, by default all; a look
    waits for missing seeds.
    Errors: ValueError without values.
    """
    if not values:
        raise ValueError("no values")
    if known is not None and known.n == 0:
        return _judge_exact(statistics.mean(values) - reported, len(values), rounding)
    look = look_of(len(values) if in_order is None else in_order)
    used = values[: look or len(values)]
    judgement = _judge_at(used, reported, bool(look), origin=origin, known=known, rounding=rounding)
    apart = collapsed_runs(used) if look else []
    if not apart:
        return judgement
    rest = [value for value in used if value > apart[-1]]
    without = _judge_at(rest, reported, True, origin=origin, known=known, rounding=rounding)
    return replace(judgement, collapsed=tuple(apart), without=without)


def _judge_at(
    used: Sequence[float],
    reported: float,
    due: bool,
    *,
    origin: Origin,
    known: KnownSd | None,
    rounding: float,
) -> Judgement:
    """Returns the joint judgement of values; no verdict unless one is due."""
    difference, count = statistics.mean(used) - reported, len(used)
    half = half_width(used, known=known, confidence=INTERVAL)
    interval = None if half is None else Interval(difference - half - rounding, difference + half + rounding)
    fault = ""
    if count >= LOOKS[0] and len(set(used)) == 1:
        fault = f"{count} seeds have the same score, {used[0]:.4f}: an error in the data"
        interval = None
    if fault or not due or interval is None:
        return Judgement(Verdict("ours"), difference, interval, count, fault=fault)
    sd = statistics.sample_sd(used)
    tests = p_values(difference, sd, count, origin=origin, known=known, rounding=rounding)
    verdict = _named("ours", answers_at_a_look(tests, difference))
    p = over_looks(float(max(tests.level_differs, tests.replicates)))
    return Judgement(verdict, difference, interval, count, p)


def _named(by: By, answers: tuple[np.ndarray, np.ndarray]) -> Verdict:
    return Verdict(by, LEVELS[int(answers[0])], DRAWS[int(answers[1])])


def _judge_exact(difference: float, seeds: int, rounding: float) -> Judgement:
    """Returns the judgement of a deterministic system, whose difference has no error. All runs are equal,
    so the draw is inside if the level is equal, and outside otherwise. Rounding of sums is ignored.
    """
    low, high, reach = difference - rounding, difference + rounding, MARGIN + 1e-9
    level: Level = "lower" if high < -reach else "higher" if low > reach else "not known"
    if -reach <= low and high <= reach:
        level = "within half a point"
    draw: Draw = "not known" if level == "not known" else "inside"
    draw = "outside" if level in ("lower", "higher") else draw
    p = 0.0 if draw == "outside" else 1.0
    return Judgement(Verdict("ours", level, draw), difference, Interval(low, high), seeds, p)


def by_others(
    sources: Sources,
    reported: float,
    *,
    origin: Origin,
    same_authors: bool,
    searched: bool,
    rounding: float = 0.0,
    borrowed: KnownSd | None = None,
) -> Judgement:
    """Returns the judgement of independent re-runs; each source counts once.

    Level: Student's 90 % interval of the mean of FEW_SOURCES or more against the margin. Draw: whether the
    number is plausible as a result of another source (`p_values_of_sources`). borrowed: the standard
    deviation of a larger study, for few sources. One or two sources settle nothing, unless one has
    SMALL_SAMPLE runs or more, which are then judged like runs of ours, if the other source is plausible as
    a result of them.
    Without any: authors only if they measured it a second time (`same_authors`) or re-runs were searched
    (`searched`).
    """
    values = list(sources.means.values())
    if not values:
        return Judgement(Verdict("authors" if same_authors or searched else "nobody"))
    difference, count = statistics.mean(values) - reported, len(values)
    if count < FEW_SOURCES:
        return _by_one_source(sources, reported, difference, origin=origin, rounding=rounding)
    return _by_several(sources, reported, origin=origin, rounding=rounding, borrowed=borrowed)


def _by_several(
    sources: Sources, reported: float, *, origin: Origin, rounding: float, borrowed: KnownSd | None
) -> Judgement:
    """Returns the judgement by the means of FEW_SOURCES or more."""
    values, counts = list(sources.means.values()), [sources.counts[name] for name in sources.means]
    difference, spread = statistics.mean(values) - reported, statistics.sample_sd(values) or 0.0
    tests = p_values_of_sources(
        difference,
        spread,
        counts,
        origin=origin,
        within=sources.within(),
        borrowed=borrowed,
        rounding=rounding,
    )
    draw_level, freedom = AMONG_SOURCES, len(values) - 1
    if borrowed is not None and borrows(len(values), spread, borrowed):
        draw_level, freedom = AMONG_BORROWED, max(freedom, borrowed.n - 1)
        spread = max(spread, borrowed.sd)
    reach = statistics.student(freedom, 1 - 2 * LEVEL) * spread / math.sqrt(len(values)) + rounding
    interval = Interval(difference - reach, difference + reach)
    verdict = _named("others", answers_by_sources(tests, difference, draw_level))
    return Judgement(verdict, difference, interval, len(values), _p_of_both(tests, draw_level))


def _by_one_source(
    sources: Sources, reported: float, difference: float, *, origin: Origin, rounding: float
) -> Judgement:
    """Returns the judgement by the source with most runs if they are SMALL_SAMPLE or more; not settled
    otherwise, and if another source differs from them by more than seeds do: then the labs differ. The runs
    are fixed, so all have one look at LEVEL.
    """
    name = max(sources.runs, key=lambda source: len(sources.runs[source]), default="")
    runs = sources.runs.get(name, ())
    apart = sources_apart(sources, name) if len(runs) >= SMALL_SAMPLE else []
    if len(runs) < SMALL_SAMPLE or apart:
        named = (name, *apart) if apart else ()
        return Judgement(Verdict("others"), difference, None, len(sources.means), apart=named)
    difference, sd = statistics.mean(runs) - reported, statistics.sample_sd(runs)
    half = half_width(runs, known=None, confidence=1 - 2 * LEVEL) or 0.0
    tests = p_values(difference, sd, len(runs), origin=origin, rounding=rounding)
    verdict = _named("others", answers_by_sources(tests, difference))
    interval = Interval(difference - half - rounding, difference + half + rounding)
    p = _p_of_both(tests, AMONG_SOURCES)
    return Judgement(verdict, difference, interval, len(runs), p, source=name)


def sources_apart(sources: Sources, name: str) -> list[str]:
    """Returns the other sources whose mean is outside the 95 % prediction interval for as many runs, by the
    runs of the source of this name.
    """
    runs = sources.runs[name]
    centre, sd = statistics.mean(runs), max(statistics.sample_sd(runs) or 0.0, 1e-12)

    def p(other: str) -> float:
        kind = Origin(sources.counts[other])
        return float(chance_beyond((sources.means[other] - centre) / sd, len(runs), len(runs) - 1, kind))

    return [other for other in sources.means if other != name and p(other) < LEVEL]


def _p_of_both(tests: PValues, draw_level: float) -> float:
    """Returns the p-value that both answers are off, 1 if the draw is not known."""
    if np.isnan(tests.replicates):
        return 1.0
    return min(1.0, float(max(tests.level_differs, tests.replicates * LEVEL / draw_level)))


def on_record(
    judgement: Judgement, runs: Sequence[float], reported: float, *, origin: Origin, rounding: float = 0.0
) -> Judgement:
    """Returns the judgement, in which a number off the mean is inside only if one of `runs` reaches it.

    Otherwise the draw is inside as a best if the number may be a best on dev, and at the edge if not.
    """
    verdict, reach = judgement.verdict, rounding + 1e-9
    if verdict.is_off and verdict.draw == "inside":
        if verdict.level == "lower" and not any(run >= reported - reach for run in runs):
            verdict = verdict._replace(draw="inside as a best" if origin.picked > 1 else "at the edge")
        if verdict.level == "higher" and not any(run <= reported + reach for run in runs):
            verdict = verdict._replace(draw="at the edge")
    without = judgement.without
    if without is not None:
        without = on_record(without, runs, reported, origin=origin, rounding=rounding)
    return replace(judgement, verdict=verdict, without=without)
