"""The rules of verdicts: what runs say about a reported number. Every table, page and command asks here.

Two questions are kept apart. *Level*: is the method's mean within MARGIN of the reported number? This is a
test of equivalence. *Replication*: could the reported number be a result of this method, one run or a mean or
the best of several on the development set? This is a prediction interval. `judge` combines both.

A verdict is given at declared looks only, after 5, 10, 20 or 40 seeds, and each look has a share of the
allowed error (Bonferroni). So adding seeds until there is a verdict keeps the stated errors.

Numbers are in points (raw scores times 100) throughout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy import stats

from harness.facts import statistics
from harness.facts.intervals import Interval, Share, half_width, percentile, prediction_interval
from harness.facts.statistics import Comparison, KnownSpread

MARGIN = 0.5
"""Points within which two scores count as the same."""

LEVEL = 0.05
"""Probability of a wrong verdict that is allowed over all looks together."""

LOOKS = (5, 10, 20, 40)
"""Numbers of seeds at which a verdict is given; runs in between wait for the next look."""

AT_A_LOOK = LEVEL / len(LOOKS)
"""Probability of a wrong verdict at one look."""

INTERVAL = 1 - 2 * AT_A_LOOK
"""Confidence of the interval of a difference that two one-sided tests at a look are read off."""

MOST_PICKED = 10
"""Runs that a number was chosen from on dev where nothing is stated: the most that is plausible."""

DEV_CORRELATION = 0.73
"""Between development and test scores of one system's seeds; by the ledger's fifty seeds on BERT-base."""

ENDLESS = 10**9
"""Seeds after which a mean and a standard deviation have no error left."""

FEW_RUNS = 5
"""Below this many draws a value inside their prediction interval says nothing: it holds almost all."""

OURS = "our seeds"
"""The source that our own runs are."""

FEW_SOURCES = 3
"""Sources without which others' runs settle nothing: one implementation can be wrong in all of its seeds."""

ByOurs = Literal[
    "replicates",
    "replicates within run-to-run variation",
    "does not replicate (lower)",
    "does not replicate (higher)",
    "inconclusive",
]
"""By seeds of ours. Lower: our scores are lower than the reported number."""

Drawn = Literal["plausible draw", "lucky draw", "unlucky draw", "out of reach", "too few runs"]
"""A reported single run: among the runs, surely in their upper or lower quarter, or beyond their reach."""

ByOthers = Literal[
    "independent runs agree",
    "independent runs score lower",
    "independent runs score higher",
    "independent evidence is inconclusive",
    "authors only",
    "no independent result",
]
"""What holds without a run of ours. Authors only: others' runs were looked for and not found, or its authors
measured it a second time."""

Verdict = ByOurs | ByOthers
"""The one scale of the site: a word of `ByOurs` for a cell with seeds of ours, of `ByOthers` without."""

VERDICTS: tuple[Verdict, ...] = (*get_args(ByOurs), *get_args(ByOthers))
BY_OURS: tuple[ByOurs, ...] = get_args(ByOurs)
SAME, WITHIN, LOWER, HIGHER, OPEN = range(len(BY_OURS))
FAILED: tuple[Verdict, ...] = (BY_OURS[LOWER], BY_OURS[HIGHER])


class Origin(NamedTuple):
    """How a reported number came about: the mean of `averaged` runs, or the best on dev of `picked`."""

    averaged: int = 1
    picked: int = 1


def origin_of(seeds: int | None, picked: int | None = None) -> Origin:
    """Returns the origin of a number of `seeds` runs, chosen from `picked`; None: the paper does not say."""
    if picked is not None:
        return Origin(1, picked)
    return Origin(1, MOST_PICKED) if seeds is None else Origin(seeds)


class PValues(NamedTuple):
    """p-values without adjustment for looks. same: that the level is off (equivalence); off: that it is
    within the margin; draw: that the reported number is a result of the method; plain: the same if our mean
    and sd were without error.
    """

    same: np.ndarray
    off: np.ndarray
    draw: np.ndarray
    plain: np.ndarray


@dataclass(frozen=True)
class Judgement:
    """What our seeds say. difference: our mean minus the reported number; interval: of that difference with
    confidence INTERVAL, None where the standard deviation is not known. seeds: how many were used, those of
    the last look. p: of "does not replicate", adjusted for looks; 1 where no verdict is due.
    """

    verdict: ByOurs
    difference: float
    interval: Interval | None
    seeds: int
    p: float = 1.0


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


@dataclass(frozen=True)
class OthersAnswer:
    """What others' runs say. difference: mean of the sources minus the reported number, with its interval."""

    answer: ByOthers
    difference: float | None
    interval: Interval | None
    sources: int


def look_of(seeds: int) -> int:
    """Returns the last look that a number of seeds has reached, 0 before the first."""
    return max((look for look in LOOKS if look <= seeds), default=0)


def next_look(seeds: int) -> int | None:
    """Returns the next look, None after the last."""
    return min((look for look in LOOKS if look > seeds), default=None)


def p_values(
    difference: Any,
    sd: Any,
    seeds: int,
    *,
    origin: Origin,
    known: KnownSpread | None = None,
    rounding: float = 0.0,
    margin: float = MARGIN,
) -> PValues:
    """Returns the p-values of the tests at one look, for one study or an array of them.

    difference: our mean minus the reported number; sd: our sample standard deviation; both of any shape.
    Below `SMALL_SAMPLE` seeds the larger of two p-values counts, by our sd and by that of a larger study. The
    reported number may be off by `rounding` in the direction that is unfavourable to the test.
    """
    laws = [(np.maximum(sd, 1e-12), seeds - 1)] if seeds > 1 else []
    if known is not None and seeds < statistics.SMALL_SAMPLE:
        laws.append((np.asarray(known.sd), known.n - 1))
    size = np.abs(difference)
    found = []
    for spread, freedom in laws:
        error = spread / np.sqrt(seeds)
        near = np.maximum(size - rounding, 0) * -np.sign(difference)
        found.append(
            (
                stats.t.sf((margin - rounding - size) / error, freedom),
                stats.t.sf((size - margin - rounding) / error, freedom),
                _chance_beyond(near / spread, seeds, freedom, origin),
                _chance_beyond(near / spread, ENDLESS, ENDLESS, origin),
            )
        )
    return PValues(*(np.max(part, axis=0) for part in zip(*found, strict=True)))


def _chance_beyond(place: np.ndarray, seeds: int, freedom: int, origin: Origin) -> np.ndarray:
    """Returns the two-sided p-value of a reported number `place` standard deviations above our mean.

    Choosing on dev moves a number up, so its lower end is that of one run.
    """
    root = np.sqrt(1 / origin.averaged + 1 / seeds)
    below, above = stats.t.cdf(place / root, freedom), stats.t.sf(place / root, freedom)
    if origin.picked > 1:
        pivots = _picked_pivots(seeds, freedom, origin.picked)
        above = 1 - np.searchsorted(pivots, place) / len(pivots)
    return np.minimum(1.0, 2 * np.minimum(below, above))


@cache
def _picked_pivots(seeds: int, freedom: int, picked: int, size: int = 400_000) -> np.ndarray:
    """Returns sorted draws of (best of `picked` on dev - our mean) / our sd, for normal scores; [size]."""
    rng = np.random.default_rng([seeds, freedom, picked])
    best = stats.norm.ppf(rng.random(size) ** (1 / picked))
    test = DEV_CORRELATION * best + np.sqrt(1 - DEV_CORRELATION**2) * rng.normal(size=size)
    spread = np.sqrt(rng.chisquare(freedom, size) / freedom)
    return np.sort((test - rng.normal(size=size) / np.sqrt(seeds)) / spread)


def verdicts_at_a_look(found: PValues, difference: Any) -> np.ndarray:
    """Returns positions in BY_OURS.

    Replicates: equivalence is shown. Does not replicate: the level is off by more than the margin, and the
    reported number is outside of the prediction interval, both at the level of a look. Replicates within
    run-to-run variation: the level is off, and the number is inside of the 95 % range of such numbers by our
    mean and sd, which few seeds do not widen.
    """
    off = found.off < AT_A_LOOK
    failed = np.where(np.asarray(difference) < 0, LOWER, HIGHER)
    outcome = np.where(off & (found.plain >= LEVEL), WITHIN, OPEN)
    outcome = np.where(off & (found.draw < AT_A_LOOK), failed, outcome)
    return np.where(found.same < AT_A_LOOK, SAME, outcome)


def judge(
    values: Sequence[float],
    reported: float,
    *,
    origin: Origin,
    known: KnownSpread | None = None,
    rounding: float = 0.0,
    margin: float = MARGIN,
) -> Judgement:
    """Returns what our seeds say of a reported number; the seeds up to the last look count, in their order.

    known: the spread of a larger study, n = 0 for a deterministic system, of which one run is enough.
    Errors: ValueError without values or with a margin that is not positive.
    """
    if not values or margin <= 0:
        raise ValueError(f"{len(values)} values, margin {margin}: expected a value and a positive margin")
    if known is not None and known.n == 0:
        return _judge_exact(statistics.mean(values) - reported, len(values), rounding, margin)
    look = look_of(len(values))
    used = values[: look or len(values)]
    difference = statistics.mean(used) - reported
    half = half_width(used, known=known, confidence=INTERVAL)
    if half is None:
        return Judgement("inconclusive", difference, None, len(used))
    interval = Interval(difference - half - rounding, difference + half + rounding)
    if not look:
        return Judgement("inconclusive", difference, interval, len(used))
    found = p_values(
        difference,
        statistics.sample_sd(used),
        look,
        origin=origin,
        known=known,
        rounding=rounding,
        margin=margin,
    )
    verdict = BY_OURS[int(verdicts_at_a_look(found, difference))]
    p = min(1.0, len(LOOKS) * float(max(found.off, found.draw)))
    return Judgement(verdict, difference, interval, look, p)


def _judge_exact(difference: float, seeds: int, rounding: float, margin: float) -> Judgement:
    """Returns the judgement of a system whose score no seed changes: the difference is what it is."""
    interval = Interval(difference - rounding, difference + rounding)
    verdict = _side(interval, margin, BY_OURS)
    return Judgement(verdict, difference, interval, seeds, 0.0 if verdict in FAILED else 1.0)


def _side(interval: Interval, margin: float, words: Sequence[Any]) -> Any:
    """Returns the word for where an interval lies; the last bits of sums are left out."""
    last_bits = 1e-9
    if -margin - last_bits <= interval.low and interval.high <= margin + last_bits:
        return words[SAME]
    if interval.high < -margin - last_bits:
        return words[LOWER]
    return words[HIGHER] if interval.low > margin + last_bits else words[OPEN]


def surviving(p: Sequence[float], *, rate: float = LEVEL) -> list[bool]:
    """Returns which of many "does not replicate" hold at a false-discovery rate (Benjamini-Hochberg)."""
    return [bool(one <= rate) for one in stats.false_discovery_control(p)] if p else []


def separable(groups: Sequence[Sequence[float] | None], exact: Sequence[bool]) -> np.ndarray:
    """Returns which systems are above which: [i, j] is True where i is shown to be above j.

    Pairwise Welch tests over seeds with Holm's adjustment at LEVEL. A single run of a trained system is
    never separable from another trained one; of two systems without random draws the difference is exact.
    Shapes: N groups of scores, None for a row without a score; returns [N, N].
    """
    above = np.zeros((len(groups), len(groups)), dtype=bool)
    pairs = [(i, j) for i, one in enumerate(groups) for j in range(i) if one and groups[j]]
    p = np.array([_welch(groups[i] or (), groups[j] or (), exact[i], exact[j]) for i, j in pairs])
    order = np.argsort(p, kind="stable")
    adjusted = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    for (i, j), value in zip([pairs[index] for index in order], adjusted, strict=True):
        if value < LEVEL:
            higher, lower = (i, j) if np.mean(groups[i] or ()) > np.mean(groups[j] or ()) else (j, i)
            above[higher, lower] = True
    return above


def _welch(one: Sequence[float], other: Sequence[float], one_exact: bool, other_exact: bool) -> float:
    """Returns the two-sided p-value of a difference over seeds, 1 where it cannot be tested."""
    if one_exact and other_exact:
        return float(abs(one[0] - other[0]) <= 1e-9)
    if one_exact or other_exact:
        fixed, varied = (one, other) if one_exact else (other, one)
        if len(varied) < 2:
            return 1.0
        if len(set(varied)) == 1:
            return float(varied[0] == fixed[0])
        return float(stats.ttest_1samp(varied, fixed[0]).pvalue)
    found = statistics.compare_seeds(one, other)
    return 1.0 if found is None else found.p


def rank_intervals(
    groups: Sequence[Sequence[float] | None], exact: Sequence[bool], *, lower_is_better: bool = False
) -> list[tuple[int, int] | None]:
    """Returns the ranks that each system may have, 1 the best; None for one without a score.

    A system of which nothing is shown to be better may be the best. Simultaneous for all systems, 95 %.
    """
    above = separable(groups, exact)
    better, worse = (
        (above.sum(axis=1), above.sum(axis=0)) if lower_is_better else (above.sum(0), above.sum(1))
    )
    count = sum(map(bool, groups))
    return [
        (1 + int(better[index]), count - int(worse[index])) if group else None
        for index, group in enumerate(groups)
    ]


Claimed = Literal["supported", "contradicted", "inconclusive"]


class Pair(NamedTuple):
    """Scores of two systems, the first said to be above; with a margin, said to be the same within it."""

    ours: Sequence[float]
    theirs: Sequence[float]
    margin: float = 0.0


def compare_at_a_look(pair: Pair, *, level: float = AT_A_LOOK) -> Comparison | None:
    """Returns Welch's test of two systems by the seeds up to their last common look, None before the first.

    Its interval has the confidence 1 - level.
    """
    look = look_of(min(len(pair.ours), len(pair.theirs)))
    if not look:
        return None
    return statistics.compare_seeds(pair.ours[:look], pair.theirs[:look], confidence=1 - level)


def claimed(found: Comparison | None, *, margin: float = 0.0) -> Claimed:
    """Returns what a comparison says of a claim that the first is above the second.

    Supported or contradicted: the interval is wholly above or below 0; of a claim that both are the same
    within a margin that is not 0, wholly inside or outside of it.
    """
    if found is None:
        return "inconclusive"
    if margin:
        if -margin <= found.low and found.high <= margin:
            return "supported"
        return "contradicted" if found.low > margin or found.high < -margin else "inconclusive"
    if found.low <= 0 <= found.high:
        return "inconclusive"
    return "supported" if found.low > 0 else "contradicted"


def claimed_among_many(pairs: Sequence[Pair]) -> list[tuple[Comparison | None, Claimed]]:
    """Returns what many comparisons say of their claims, with the false-discovery rate at LEVEL.

    Benjamini-Hochberg, through intervals: of the pairs that reached a look the largest share is answered
    whose answers all hold at the level of a look times that share, and the intervals have that level
    (Benjamini and Yekutieli 2005).
    """
    share = 1.0
    while True:
        found = [compare_at_a_look(pair, level=share * AT_A_LOOK) for pair in pairs]
        answers = [claimed(one, margin=pair.margin) for one, pair in zip(found, pairs, strict=True)]
        answered = sum(answer != "inconclusive" for answer in answers)
        tested = sum(one is not None for one in found)
        if not answered or answered >= share * tested:
            return list(zip(found, answers, strict=True))
        share = answered / tested


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
    reported: float,
    *,
    same_authors: bool,
    searched: bool,
    rounding: float = 0.0,
    margin: float = MARGIN,
) -> OthersAnswer:
    """Returns what independent re-runs say of the level, each source counted once however many runs it has.

    sources: one value for each who measured. With FEW_SOURCES or more, Student's 90 % interval of their mean
    minus the reported number is compared with the margin; one or two are inconclusive. Without any: authors
    only if they measured it a second time (`same_authors`) or re-runs were looked for (`searched`).
    """
    values = list(sources.values())
    if not values:
        alone: ByOthers = "authors only" if same_authors or searched else "no independent result"
        return OthersAnswer(alone, None, None, 0)
    difference = statistics.mean(values) - reported
    half = half_width(values, known=None, confidence=1 - 2 * LEVEL)
    if len(values) < FEW_SOURCES or half is None:
        return OthersAnswer("independent evidence is inconclusive", difference, None, len(values))
    interval = Interval(difference - half - rounding, difference + half + rounding)
    agree, lower, higher, not_known = get_args(ByOthers)[:4]
    words = (agree, "", lower, higher, not_known)
    return OthersAnswer(_side(interval, margin, words), difference, interval, len(values))


def verdict_of(ours: Judgement | None, others: OthersAnswer) -> Verdict:
    """Returns the verdict of a cell: by our seeds where there are any, else by others' runs."""
    return others.answer if ours is None else ours.verdict
