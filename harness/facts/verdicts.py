"""The rules of verdicts: what runs say about a reported number. Every table, page and command asks here.

Two questions are kept apart. *Level*: is the method's mean within MARGIN of the reported number? This is a
test of equivalence. *Replication*: could the reported number be a result of this method, one run or a mean or
the best of several on the development set? This is a prediction interval. `judge` combines both.

A verdict is given at declared looks only, after 5, 10, 20 or 40 seeds, and each look has a share of the
allowed error (Bonferroni). So adding seeds until there is a verdict keeps the stated errors.

Numbers are in points (raw scores times 100) throughout.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy import special

from harness.facts import statistics
from harness.facts.statistics import Interval, KnownSd, half_width

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
    known: KnownSd | None = None,
    rounding: float = 0.0,
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
                special.stdtr(freedom, -(MARGIN - rounding - size) / error),
                special.stdtr(freedom, -(size - MARGIN - rounding) / error),
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
    below, above = special.stdtr(freedom, place / root), special.stdtr(freedom, -place / root)
    if origin.picked > 1:
        pivots = _picked_pivots(seeds, freedom, origin.picked)
        above = 1 - np.searchsorted(pivots, place) / len(pivots)
    return np.minimum(1.0, 2 * np.minimum(below, above))


@cache
def _picked_pivots(seeds: int, freedom: int, picked: int, size: int = 400_000) -> np.ndarray:
    """Returns sorted draws of (best of `picked` on dev - our mean) / our sd, for normal scores; [size]."""
    rng = np.random.default_rng([seeds, freedom, picked])
    best = special.ndtri(rng.random(size) ** (1 / picked))
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
    known: KnownSd | None = None,
    rounding: float = 0.0,
) -> Judgement:
    """Returns what our seeds say of a reported number; the seeds up to the last look count, in their order.

    known: the standard deviation of a larger study, n = 0 for a deterministic system, of which one run is
    enough.
    Errors: ValueError without values.
    """
    if not values:
        raise ValueError("no values, expected at least one")
    if known is not None and known.n == 0:
        return _judge_exact(statistics.mean(values) - reported, len(values), rounding)
    look = look_of(len(values))
    used = values[: look or len(values)]
    difference = statistics.mean(used) - reported
    half = half_width(used, known=known, confidence=INTERVAL)
    if half is None:
        return Judgement("inconclusive", difference, None, len(used))
    interval = Interval(difference - half - rounding, difference + half + rounding)
    if not look:
        return Judgement("inconclusive", difference, interval, len(used))
    sd = statistics.sample_sd(used)
    found = p_values(difference, sd, look, origin=origin, known=known, rounding=rounding)
    verdict = BY_OURS[int(verdicts_at_a_look(found, difference))]
    p = min(1.0, len(LOOKS) * float(max(found.off, found.draw)))
    return Judgement(verdict, difference, interval, look, p)


def _judge_exact(difference: float, seeds: int, rounding: float) -> Judgement:
    """Returns the judgement of a system whose score no seed changes: the difference is what it is."""
    interval = Interval(difference - rounding, difference + rounding)
    verdict = _side(interval, BY_OURS)
    return Judgement(verdict, difference, interval, seeds, 0.0 if verdict in FAILED else 1.0)


def _side(interval: Interval, words: Sequence[Any]) -> Any:
    """Returns the word for where an interval lies; the last bits of sums are left out."""
    reach = MARGIN + 1e-9
    if -reach <= interval.low and interval.high <= reach:
        return words[SAME]
    if interval.high < -reach:
        return words[LOWER]
    return words[HIGHER] if interval.low > reach else words[OPEN]


def by_others(
    sources: Mapping[str, float],
    reported: float,
    *,
    same_authors: bool,
    searched: bool,
    rounding: float = 0.0,
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
    return OthersAnswer(_side(interval, words), difference, interval, len(values))
