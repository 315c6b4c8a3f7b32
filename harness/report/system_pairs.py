"""Comparison of two systems: paired differences of the tasks with intervals, and numbers of won tasks.

A seed determines the order of rows, dropout and the initial weights of new layers for every method, so runs
of two systems are compared seed by seed. A difference is uncertain over seeds, estimated from the scores, and
over pairs of sentences, estimated from the cosines of stored vectors; a joint bootstrap covers both. A task
of trained systems is won if the interval over seeds excludes zero, and so does the joint interval, if known;
with one seed per side it is inconclusive. Between systems without random draws the interval over pairs
decides. The intervals of all test sets of two systems hold jointly (Bonferroni), the interval of their mean
separately; the best system against all others has Tukey's range.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from harness.evidence import statistics
from harness.evidence.comparisons import critical_range, pooled_variance
from harness.evidence.number_tests import LEVEL, MARGIN
from harness.evidence.schema import ResultFile
from harness.evidence.statistics import Interval, mean_interval

Outcome = Literal["won", "lost", "inconclusive", "equal"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
CONFIDENCE = 0.95
TOGETHER = f"{CONFIDENCE:.0%} for all tasks together, {CONFIDENCE:.0%} for the mean".replace("%", " %")
"""Scope of the intervals of a comparison."""
SAME = 1e-9
"""Differences up to this are rounding of the last bits."""
HEADLINE = {"spearman": "all", "accuracy": "", "map": ""}
"""The headline metrics of a task with their settings; an empty setting means the first one stated."""


class TaskName(NamedTuple):
    """Key of a comparison: one task by one metric in one setting and text form."""

    task: str
    metric: str
    setting: str
    text: str


@dataclass
class SystemScores:
    """The headline scores of one system on one backbone by task and seed, raw units.

    exact: whether no run had a training step, so scores have no standard deviation between seeds.
    """

    key: str
    label: str
    exact: bool = True
    tasks: dict[TaskName, dict[int, float]] = field(default_factory=dict)

    def means(self, names: Sequence[TaskName]) -> dict[int, float]:
        """Returns the mean over tasks by seed, for seeds with all of them."""
        seeds = set.intersection(*(set(self.tasks[name]) for name in names)) if names else ()
        return {seed: statistics.mean([self.tasks[name][seed] for name in names]) for seed in sorted(seeds)}


class OverItems(NamedTuple):
    """95 % intervals of a difference over pairs of sentences, for these runs, and over seeds and pairs
    jointly; None if not known.
    """

    pairs: Interval | None = None
    joint: Interval | None = None


NO_ITEMS = OverItems()


@dataclass(frozen=True)
class PairedDifference:
    """Means over the paired seeds of both systems and first minus second, raw units.

    paired: number of common seeds; without any, the means are over all seeds of a side. seeds: 95 % interval
    of the difference over seeds, None if not known. over: the same over test items. exact: whether neither
    system has random draws, so scores do not depend on seeds.
    """

    first: float
    second: float
    difference: float
    paired: int
    seeds: Interval | None
    over: OverItems = NO_ITEMS
    exact: bool = False

    @property
    def deciding(self) -> tuple[Interval | None, ...]:
        """The intervals that must exclude zero for a verdict, None for unknown ones."""
        if self.exact:
            return (self.over.pairs,)
        return (self.seeds, *([self.over.joint] if self.over.joint is not None else []))

    @property
    def outcome(self) -> Outcome:
        """Whether the first system wins; inconclusive if an interval includes zero or is not known."""
        known = [bounds for bounds in (self.seeds, *self.over) if bounds is not None]
        if abs(self.difference) <= SAME and all(max(map(abs, bounds)) <= SAME for bounds in known):
            return "equal"
        if any(interval is None or interval.holds(0.0) for interval in self.deciding):
            return "inconclusive"
        return "won" if self.difference > 0 else "lost"

    @property
    def is_small(self) -> bool:
        """Whether it is won or lost by less than MARGIN, which counts as the same: every deciding interval is
        inside the margin.
        """
        ends = [abs(end) for interval in self.deciding for end in interval or ()]
        return self.outcome in ("won", "lost") and 100 * max(ends) < MARGIN

    @property
    def in_words(self) -> str:
        """The outcome, with the margin if it is small."""
        return f"{self.outcome} by < {MARGIN:g}" if self.is_small else self.outcome

    @property
    def reason(self) -> str:
        """The basis of the outcome, as text."""
        if self.exact:
            known = "" if self.over.pairs is not None else ", whose interval is not known"
            return f"over pairs of sentences{known}: no score depends on a seed"
        if self.seeds is None:
            return "inconclusive over seeds, of which two in common are needed"
        return "over seeds and pairs jointly" if self.over.joint is not None else "over seeds"


@dataclass(frozen=True)
class SystemComparison:
    """Two named systems on their common tasks; mean: of these tasks, None without a common seed."""

    first: str
    second: str
    tasks: Mapping[TaskName, PairedDifference]
    mean: PairedDifference | None

    @property
    def tally(self) -> dict[Outcome, int]:
        """Numbers of tasks that the first system won and lost, and of inconclusive and equal ones."""
        counts = Counter(difference.outcome for difference in self.tasks.values())
        return {outcome: counts[outcome] for outcome in OUTCOMES}

    @property
    def in_words(self) -> str:
        """The tally, and how many of the won and lost tasks are small."""
        small = sum(difference.is_small for difference in self.tasks.values())
        more = f"; {small} won or lost by less than {MARGIN:g} points, which counts as the same"
        return tally_in_words(self.tally, self.first) + (more if small else "")


def system_scores(results: Iterable[ResultFile]) -> dict[str, SystemScores]:
    """Returns the scores of every system by `SYSTEM@BACKBONE`, of the selected weights, on test sets."""
    systems: dict[str, SystemScores] = {}
    for result in results:
        run = result.run
        key = f"{run.id}@{run.backbone}"
        system = systems.setdefault(key, SystemScores(key, f"{run.method}/{run.variant}@{run.backbone}"))
        system.exact &= result.selection.last_step == 0
        for name, value in headlines(result.scores, result.provenance.text):
            system.tasks.setdefault(name, {})[run.seed] = value
    return systems


def headlines(scores: Iterable[Any], text: str) -> Iterator[tuple[TaskName, float]]:
    """Yields the headline score of each test set: Spearman over all pairs, accuracy, or MAP.

    scores: of one model on one form of text, each with task, metric, setting and value. Development sets and
    tasks derived from another one (a name with arguments) are skipped. The first score counts, which belongs
    to the selected weights if the last weights were evaluated too.
    """
    met = set()
    for score in scores:
        if score.task.endswith("-dev") or ":" in score.task or score.metric not in HEADLINE:
            continue
        stands = HEADLINE[score.metric] in ("", score.setting) and (score.task, score.metric) not in met
        if stands:
            met.add((score.task, score.metric))
            yield TaskName(score.task, score.metric, score.setting, text), score.value


def compare_systems(
    first: SystemScores,
    second: SystemScores,
    *,
    pairs: Mapping[TaskName, OverItems] | None = None,
    over: OverItems = NO_ITEMS,
) -> SystemComparison:
    """Returns a difference for every common task, in the order of the first system, and their mean. pairs:
    known intervals over pairs of sentences, which also hold jointly; over: of the mean. The tasks'
    intervals over seeds are `simultaneous`.
    """
    exact, differences = (first.exact, second.exact), {}
    shared = [name for name in first.tasks if name in second.tasks]
    for name in shared:
        differences[name] = difference_of(
            first.tasks[name],
            second.tasks[name],
            exact=exact,
            over=(pairs or {}).get(name, NO_ITEMS),
            confidence=simultaneous(len(shared)),
        )
    ours, theirs = (side.means([*differences]) for side in (first, second))
    mean = difference_of(ours, theirs, exact=exact, over=over) if ours and theirs else None
    return SystemComparison(first.key, second.key, differences, mean)


def against_all(best: SystemScores, systems: Sequence[SystemScores]) -> list[SystemComparison]:
    """Returns the comparisons of the best of several systems with each other system that shares a task.

    The best was chosen by these scores, so its differences are held to Tukey's range of all systems: the mean
    at 95 %, the test sets with Bonferroni's correction.
    """
    comparisons = []
    for other in systems:
        names = [name for name in best.tasks if name in other.tasks]
        if other is best or not names:
            continue
        tasks = {name: _ranged(best, other, systems, [name], LEVEL / len(names)) for name in names}
        comparisons.append(
            SystemComparison(best.key, other.key, tasks, _ranged(best, other, systems, names, LEVEL))
        )
    return comparisons


def _ranged(
    best: SystemScores,
    other: SystemScores,
    systems: Sequence[SystemScores],
    names: Sequence[TaskName],
    level: float,
) -> PairedDifference:
    """Returns a difference of means over tasks with Tukey's range of all systems with these tasks.

    Seeds are not paired; the standard deviation is pooled over the systems with random draws, and a system
    without them has no error. There is no interval unless a system has two seeds.
    """
    able = [system for system in systems if all(name in system.tasks for name in names)]
    groups = {system.key: [*system.means(names).values()] for system in able}
    first, second = groups[best.key], groups[other.key]
    middle = statistics.mean(first) - statistics.mean(second)
    variance, freedom = pooled_variance([groups[system.key] for system in able if not system.exact])
    parts = sum(0 if side.exact else 1 / len(groups[side.key]) for side in (best, other))
    reach = None
    if not parts:
        reach = 0.0
    elif freedom:
        reach = critical_range(len(able), freedom, level) * math.sqrt(variance * parts / 2)
    interval = None if reach is None else Interval(middle - reach, middle + reach)
    exact = best.exact and other.exact
    paired = len(set(best.means(names)) & set(other.means(names)))
    return PairedDifference(
        statistics.mean(first), statistics.mean(second), middle, paired, interval, exact=exact
    )


def simultaneous(tasks: int) -> float:
    """Returns the confidence of each of `tasks` intervals that hold jointly with CONFIDENCE.

    Source: Bonferroni's inequality.
    """
    return 1 - (1 - CONFIDENCE) / max(1, tasks)


def difference_of(
    first: Mapping[int, float],
    second: Mapping[int, float],
    *,
    exact: tuple[bool, bool] = (False, False),
    over: OverItems = NO_ITEMS,
    confidence: float = CONFIDENCE,
) -> PairedDifference:
    """Returns first minus second over common seeds; scores by seed, at least one, raw units. exact:
    whether a side does not depend on seeds; it is then paired with every seed of the other. Source of the
    interval over seeds: Student's t of the paired differences, n - 1 degrees of freedom. None below two
    seeds, without common seeds, and between two exact sides, which have nothing that varies with a seed.
    """
    ours = dict.fromkeys(second, next(iter(first.values()))) if exact[0] else first
    theirs = dict.fromkeys(ours, next(iter(second.values()))) if exact[1] else second
    shared = sorted(set(ours) & set(theirs))
    if not shared:
        means = [statistics.mean([*side.values()]) for side in (ours, theirs)]
        return PairedDifference(means[0], means[1], means[0] - means[1], 0, None, over)
    differences = [ours[seed] - theirs[seed] for seed in shared]
    means = [statistics.mean([side[seed] for seed in shared]) for side in (ours, theirs)]
    middle = statistics.mean(differences)
    seeds = None if all(exact) else mean_interval(differences, confidence)
    return PairedDifference(means[0], means[1], middle, len(shared), seeds, over, all(exact))


def tally_in_words(tally: Mapping[Outcome, int], name: str) -> str:
    """Returns a tally of the system of this name in words."""
    counts = ", ".join(f"{tally[outcome]} {outcome}" for outcome in OUTCOMES)
    return f"{name}: {counts} of {sum(tally.values())} test sets"


def to_json(comparison: SystemComparison) -> dict[str, Any]:
    """Returns the comparison as plain values, raw units."""
    tasks = [{**name._asdict(), **_plain(difference)} for name, difference in comparison.tasks.items()]
    mean = None if comparison.mean is None else _plain(comparison.mean)
    counts = {str(outcome): count for outcome, count in comparison.tally.items()}
    return {"first": comparison.first, "second": comparison.second, **counts, "mean": mean, "tasks": tasks}


def _plain(difference: PairedDifference) -> dict[str, Any]:
    return {
        "first": difference.first,
        "second": difference.second,
        "difference": difference.difference,
        "paired_seeds": difference.paired,
        "over_seeds": None if difference.seeds is None else list(difference.seeds),
        "over_pairs": None if difference.over.pairs is None else list(difference.over.pairs),
        "over_seeds_and_pairs": None if difference.over.joint is None else list(difference.over.joint),
        "outcome": difference.outcome,
        "reason": difference.reason,
    }
