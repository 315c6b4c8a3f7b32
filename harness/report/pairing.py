"""Two systems compared: their difference on every task, seed by seed, with intervals, and who wins where.

A seed is the same order of rows, the same dropout and the same first weights of new layers for every method,
so runs of two systems are compared seed by seed where both have the seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from harness.errors import InputError, near_matches
from harness.report import statistics
from harness.report.intervals import student
from harness.results.schema import ResultFile, ScoreRecord

Outcome = Literal["win", "loss", "open"]
MAIN = {"spearman": "all", "accuracy": "", "map": ""}
"""The metrics that stand for a task, with the setting they are taken in; an empty one is any."""
CONFIDENCE = 0.95
MEAN = "Mean"


@dataclass
class SystemScores:
    """The scores x 100 of a system on one backbone, by task and seed.

    exact: no run of it took a training step, so that its scores have no spread between seeds.
    """

    key: str
    label: str
    exact: bool = True
    tasks: dict[str, dict[int, float]] = field(default_factory=dict)


class Difference(NamedTuple):
    """First minus second on one task, x 100, with its 95 % interval, None where seeds are too few for one.

    first, second: means over the seeds that count; seeds: how many those are.
    """

    task: str
    first: float
    second: float
    difference: float
    low: float | None
    high: float | None
    seeds: int

    @property
    def outcome(self) -> Outcome:
        """`win` or `loss` of the first system if the interval leaves no doubt, else `open`."""
        if self.low is None or self.high is None or self.low <= 0 <= self.high:
            return "open"
        return "win" if self.low > 0 else "loss"


class SystemComparison(NamedTuple):
    """Two systems on the tasks that both were scored on; mean: of these tasks, None without one."""

    first: str
    second: str
    tasks: tuple[Difference, ...]
    mean: Difference | None

    def count(self, outcome: Outcome) -> int:
        """Returns on how many tasks the first system has this outcome."""
        return sum(task.outcome == outcome for task in self.tasks)


def system_scores(results: Iterable[ResultFile]) -> dict[str, SystemScores]:
    """Returns the scores of every system by `SYSTEM@BACKBONE`, of the selected weights, on test sets.

    A task has one score here: Spearman over all pairs, accuracy or mean average precision. Development sets
    and tasks that pick pairs of another one (a name with arguments) are left out.
    """
    found: dict[str, SystemScores] = {}
    for result in results:
        run = result.run
        key = f"{run.id}@{run.backbone}"
        label = f"{run.method}/{run.variant}@{run.backbone}"
        system = found.setdefault(key, SystemScores(key, label))
        system.exact &= result.selection.last_step == 0
        for score in result.scores:
            if score.selection == result.scores[0].selection and _stands_for_its_task(score):
                system.tasks.setdefault(score.task, {})[run.seed] = 100 * score.value
    return found


def _stands_for_its_task(score: ScoreRecord) -> bool:
    if score.task.endswith("-dev") or ":" in score.task or score.metric not in MAIN:
        return False
    return MAIN[score.metric] in ("", score.setting)


def compare_named(first: str, second: str, systems: Mapping[str, SystemScores]) -> SystemComparison:
    """Returns the comparison of two systems by their names: `SYSTEM@BACKBONE`, or `SYSTEM` if it is on one.

    Errors: InputError with near matches for an unknown name, or if they share no task.
    """
    one, other = (systems[_known(name, systems)] for name in (first, second))
    found = compare_systems(one, other)
    if not found.tasks:
        raise InputError(
            f"{one.key} and {other.key} were scored on no task in common, expected one; "
            "evaluate both on one task"
        )
    return found


def _known(name: str, systems: Mapping[str, SystemScores]) -> str:
    matching = [key for key in systems if name in (key, key.partition("@")[0])]
    if len(matching) != 1:
        fault = f"is on {len(matching)} backbones" if matching else "is unknown"
        expected = ", ".join(matching) if matching else "SYSTEM@BACKBONE with scores"
        raise InputError(
            f"system {name!r} {fault}, expected {expected}{near_matches(name, list(systems))}; "
            "correct the name"
        )
    return matching[0]


def compare_systems(first: SystemScores, second: SystemScores) -> SystemComparison:
    """Returns the differences on the tasks that both have, in the first's order, and that of their mean."""
    shared = [task for task in first.tasks if task in second.tasks]
    tasks = [_difference(task, first, second, first.tasks[task], second.tasks[task]) for task in shared]
    found = [difference for difference in tasks if difference is not None]
    mean = None
    if found:
        names = [difference.task for difference in found]
        mean = _difference(MEAN, first, second, _means(first, names), _means(second, names))
    return SystemComparison(first.key, second.key, tuple(found), mean)


def _means(system: SystemScores, tasks: Sequence[str]) -> dict[int, float]:
    """The mean over tasks of every seed that has all of them."""
    seeds = set.intersection(*(set(system.tasks[task]) for task in tasks))
    return {seed: statistics.mean([system.tasks[task][seed] for task in tasks]) for seed in sorted(seeds)}


def _difference(
    task: str,
    first: SystemScores,
    second: SystemScores,
    ours: Mapping[int, float],
    theirs: Mapping[int, float],
) -> Difference | None:
    """Returns the difference over the seeds that both have; a system without seeds counts for every seed.

    Source of the interval: Student's t of the differences, n - 1 degrees of freedom. Two systems without
    seeds have an interval of no width; None if there is no seed in common.
    """
    if not ours or not theirs:
        return None
    if first.exact:
        ours = dict.fromkeys(theirs, next(iter(ours.values())))
    if second.exact:
        theirs = dict.fromkeys(ours, next(iter(theirs.values())))
    seeds = sorted(set(ours) & set(theirs))
    if not seeds:
        return None
    differences = [ours[seed] - theirs[seed] for seed in seeds]
    middle, half = statistics.mean(differences), half_width(differences)
    if first.exact and second.exact:
        half = 0.0
    low, high = (None, None) if half is None else (middle - half, middle + half)
    first_mean, second_mean = (statistics.mean([side[seed] for seed in seeds]) for side in (ours, theirs))
    return Difference(task, first_mean, second_mean, middle, low, high, len(seeds))


def half_width(differences: Sequence[float]) -> float | None:
    """Returns half the width of the 95 % interval of a mean of differences; None below two."""
    sd = statistics.sample_sd(differences)
    if sd is None:
        return None
    count = len(differences)
    return student(count - 1, CONFIDENCE) * sd / math.sqrt(count)
