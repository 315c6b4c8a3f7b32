"""The gap ladder: how much each choice of protocol moves a run, and how much of its gap that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.report import statistics
from harness.report.pages.claims import compare_seeds
from harness.report.statistics import Comparison
from harness.results.schema import ResultFile


@dataclass(frozen=True)
class Step:
    """One rung before it is measured: the run's id, and the choice that it turns over, in words."""

    system: str
    name: str
    says: str


@dataclass(frozen=True)
class Ladder:
    """The rungs of one declared system on one backbone. gap: published minus ours, x 100, None if unknown."""

    system: str
    backbone: str
    steps: tuple[Step, ...]
    gap: float | None = None

    @property
    def command(self) -> str:
        """What runs the ladder."""
        return f"sentbench plan ladder/{self.system} && dvc repro"


@dataclass(frozen=True)
class MeasuredStep:
    """A rung with its effect: rung minus declared run, x 100; None where a side has no scores.

    interval: None below two seeds a side. share: part of the gap that the effect closes, None without a gap.
    """

    step: Step
    change: float | None
    interval: Comparison | None
    seeds: tuple[int, int]
    share: float | None


@dataclass(frozen=True)
class MeasuredLadder:
    """A ladder with its effects; `tasks` are the test sets that the effect is the mean over."""

    ladder: Ladder
    declared: float | None
    steps: tuple[MeasuredStep, ...]
    tasks: tuple[str, ...]

    @property
    def has_scores(self) -> bool:
        """Whether any rung was run."""
        return any(step.change is not None for step in self.steps)


def measure_ladder(ladder: Ladder, results: Iterable[ResultFile]) -> MeasuredLadder:
    """Returns the ladder with the mean STS score (Spearman, all pairs, without dev sets) of every rung.

    A rung is compared over the test sets that the declared run was scored on; a run that lacks one of them
    does not count.
    """
    own = [result for result in results if result.run.backbone == ladder.backbone]
    scores = {result.run.key: _sts(result) for result in own}
    by_system: dict[str, list[Mapping[str, float]]] = {}
    for result in own:
        by_system.setdefault(result.run.id, []).append(scores[result.run.key])
    declared = by_system.get(ladder.system, [])
    tasks = tuple(declared[0]) if declared else ()
    usual = _means(declared, tasks)
    steps = [_measure(step, _means(by_system.get(step.system, []), tasks), usual, ladder.gap)
             for step in ladder.steps]  # fmt: skip
    return MeasuredLadder(ladder, statistics.mean(usual) if usual else None, tuple(steps), tasks)


def _sts(result: ResultFile) -> dict[str, float]:
    """The scores of the selected weights on STS test sets, x 100, by task."""
    return {
        score.task: 100 * score.value
        for score in result.scores
        if (score.metric, score.setting) == ("spearman", "all")
        and score.selection == result.scores[0].selection
        and not score.task.endswith("-dev")
    }


def _means(runs: Sequence[Mapping[str, float]], tasks: Sequence[str]) -> list[float]:
    whole = [run for run in runs if tasks and all(task in run for task in tasks)]
    return [statistics.mean([run[task] for task in tasks]) for run in whole]


def _measure(step: Step, changed: list[float], usual: list[float], gap: float | None) -> MeasuredStep:
    seeds = (len(changed), len(usual))
    if not changed or not usual:
        return MeasuredStep(step, None, None, seeds, None)
    change = statistics.mean(changed) - statistics.mean(usual)
    return MeasuredStep(step, change, compare_seeds(changed, usual), seeds, change / gap if gap else None)
