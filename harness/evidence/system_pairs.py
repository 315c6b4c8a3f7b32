"""Two systems side by side: their headline scores, the difference on each test set, and numbers of won tasks.

`differences` says how a difference is judged. The best of several systems against all others is held to the
studentized range of all pairs, because it was chosen by these scores.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.evidence import statistics
from harness.evidence.differences import (
    CHANCE,
    OUTCOMES,
    Difference,
    Outcome,
    difference_of,
    mean_first,
    move_together,
    pairs_of_mean,
)
from harness.evidence.moved import HEADLINE
from harness.evidence.number_tests import LEVEL, MARGIN
from harness.evidence.schema import ResultFile
from harness.evidence.statistics import StandardError

MEAN_FIRST = f"the mean at {LEVEL:.0%}, then the test sets by Holm".replace("%", " %")
"""How a comparison is tested."""


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


@dataclass(frozen=True)
class SystemComparison:
    """Two named systems on their common tasks; mean: of these tasks, None if a side has no seed with all."""

    first: str
    second: str
    tasks: Mapping[TaskName, Difference]
    mean: Difference | None

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

    @property
    def power_in_words(self) -> str:
        """The difference of the mean that these runs would have shown, empty without an interval."""
        detectable = None if self.mean is None else self.mean.detectable
        if detectable is None:
            return ""
        least = f"{100 * detectable:.1f}"
        return f"a true difference of {least} points of the mean is found in {10 * CHANCE:g} of 10 cases"


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
    tasks derived from another one (a name with arguments) are skipped. Of several settings the first counts,
    as does the first of two selections, which is of the selected weights.
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
    first: SystemScores, second: SystemScores, *, pairs: Mapping[TaskName, StandardError] | None = None
) -> SystemComparison:
    """Returns a difference for every common task, in the order of the first system, and their mean. pairs:
    known errors over pairs of sentences.
    """
    return _compared(first, second, pairs or {}, systems=2)


def against_all(best: SystemScores, systems: Sequence[SystemScores]) -> list[SystemComparison]:
    """Returns the comparisons of the best of several systems with each other system that shares a task."""
    others = [other for other in systems if other is not best and best.tasks.keys() & other.tasks.keys()]
    return [_compared(best, other, {}, systems=len(systems)) for other in others]


def _compared(
    first: SystemScores, second: SystemScores, pairs: Mapping[TaskName, StandardError], *, systems: int
) -> SystemComparison:
    shared = [name for name in first.tasks if name in second.tasks]
    ours, theirs = (side.means(shared) for side in (first, second))
    paired, exact = systems == 2 and move_together(ours, theirs), (first.exact, second.exact)

    def difference(
        one: Mapping[int, float], other: Mapping[int, float], over: StandardError | None
    ) -> Difference:
        return difference_of(one, other, exact=exact, paired=paired, pairs=over, systems=systems)

    tasks = {name: difference(first.tasks[name], second.tasks[name], pairs.get(name)) for name in shared}
    over = pairs_of_mean([pairs.get(name) for name in shared])
    mean = difference(ours, theirs, over) if ours and theirs else None
    return SystemComparison(first.key, second.key, mean_first(mean, tasks), mean)


def tally_in_words(tally: Mapping[Outcome, int], name: str) -> str:
    """Returns a tally of the system of this name in words."""
    counts = ", ".join(f"{tally[outcome]} {outcome}" for outcome in OUTCOMES)
    return f"{name}: {counts} of {sum(tally.values())} test sets"


def differences_json(comparison: SystemComparison) -> dict[str, Any]:
    """Returns the comparison as plain values, raw units."""
    tasks = [{**name._asdict(), **_plain(difference)} for name, difference in comparison.tasks.items()]
    mean = None if comparison.mean is None else _plain(comparison.mean)
    counts = {str(outcome): count for outcome, count in comparison.tally.items()}
    return {"first": comparison.first, "second": comparison.second, **counts, "mean": mean, "tasks": tasks}


def _plain(difference: Difference) -> dict[str, Any]:
    over_seeds, over_pairs, jointly = (
        None if bounds is None else list(bounds) for bounds in difference.intervals
    )
    return {
        "first": difference.first,
        "second": difference.second,
        "difference": difference.difference,
        "seeds": list(difference.seeds),
        "paired": difference.paired,
        "level": difference.level,
        "over_seeds": over_seeds,
        "over_pairs": over_pairs,
        "over_seeds_and_pairs": jointly,
        "detectable": difference.detectable,
        "outcome": difference.outcome,
        "reason": difference.reason,
    }
