"""The ablation: how much each choice of protocol moves a run, and how much of its gap that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.facts import statistics
from harness.facts.statistics import Comparison
from harness.report.charts.chart import Chart, Row, draw
from harness.report.pages.content import Ablation, Report, Step
from harness.report.pages.declared import Page
from harness.report.runs import selected_scores, slug
from harness.report.tables.model import Table
from harness.results.schema import ResultFile


@dataclass(frozen=True)
class MeasuredStep:
    """A step with its effect: step minus declared run, x 100; None where a side has no scores.

    interval: None below two seeds a side. share: part of the gap that the effect closes, None without a gap.
    """

    step: Step
    change: float | None
    interval: Comparison | None
    seeds: tuple[int, int]
    share: float | None


@dataclass(frozen=True)
class MeasuredAblation:
    """An ablation with its effects; `tasks` are the test sets that the effect is the mean over.

    gap: published minus ours, x 100, None if unknown.
    """

    ablation: Ablation
    gap: float | None
    declared: float | None
    steps: tuple[MeasuredStep, ...]
    tasks: tuple[str, ...]

    @property
    def has_scores(self) -> bool:
        """Whether any step was run."""
        return any(step.change is not None for step in self.steps)


def measure_ablation(
    ablation: Ablation, results: Iterable[ResultFile], gap: float | None = None
) -> MeasuredAblation:
    """Returns the ablation with the mean STS score (Spearman, all pairs, without dev sets) of every step.

    A step is compared over the test sets that the declared run was scored on; a run that lacks one of them
    does not count.
    """
    own = [result for result in results if result.run.backbone == ablation.backbone]
    scores = {result.run.key: _sts(result) for result in own}
    by_system: dict[str, list[Mapping[str, float]]] = {}
    for result in own:
        by_system.setdefault(result.run.id, []).append(scores[result.run.key])
    declared = by_system.get(ablation.system, [])
    tasks = tuple(declared[0]) if declared else ()
    usual = _means(declared, tasks)
    steps = [_measure(step, _means(by_system.get(step.system, []), tasks), usual, gap)
             for step in ablation.steps]  # fmt: skip
    return MeasuredAblation(ablation, gap, statistics.mean(usual) if usual else None, tuple(steps), tasks)


def _sts(result: ResultFile) -> dict[str, float]:
    """The scores of the selected weights on STS test sets, x 100, by task."""
    return {
        score.task: 100 * score.value
        for score in selected_scores(result)
        if (score.metric, score.setting) == ("spearman", "all") and not score.task.endswith("-dev")
    }


def _means(runs: Sequence[Mapping[str, float]], tasks: Sequence[str]) -> list[float]:
    whole = [run for run in runs if tasks and all(task in run for task in tasks)]
    return [statistics.mean([run[task] for task in tasks]) for run in whole]


def _measure(step: Step, changed: list[float], usual: list[float], gap: float | None) -> MeasuredStep:
    seeds = (len(changed), len(usual))
    if not changed or not usual:
        return MeasuredStep(step, None, None, seeds, None)
    change = statistics.mean(changed) - statistics.mean(usual)
    return MeasuredStep(
        step, change, statistics.compare_seeds(changed, usual), seeds, change / gap if gap else None
    )


def gap_of(runs: Sequence[str], tables: Iterable[Table]) -> float | None:
    """Returns published minus ours, x 100, of the first average that these runs alone fill."""
    for table in tables:
        for _, column, cell in table.cells():
            if column.key == "Avg" and cell.delta is not None and set(cell.runs) == set(runs):
                return -cell.delta * 100 / table.scale
    return None


def effects_of(ablations: Sequence[MeasuredAblation]) -> list[Chart]:
    """Returns a picture for each ablation with a measured step: what each choice changes, in points."""
    charts = []
    for measured in ablations:
        name = f"{measured.ablation.system} on {measured.ablation.backbone}"
        rows: list[Row] = [
            {
                "name": found.step.name,
                "kind": "ours",
                "value": found.change,
                **({"low": found.interval.low, "high": found.interval.high} if found.interval else {}),
                "says": f"{found.step.says}: {found.change:+.2f}",
            }
            for found in measured.steps
            if found.change is not None
        ]
        if rows:
            most = max(rows, key=lambda row: abs(row["value"]))
            charts.append(
                draw(
                    "rows",
                    rows,
                    key=f"effects-{slug(name)}",
                    title=f"Effect of each choice: {name}",
                    caption="Step minus declared run, mean over STS test sets; bars are 95 % intervals.",
                    says=f"{most['name']} moves the score most, by {most['value']:+.2f} points.",
                    x_title="points",
                    kinds=["ours"],
                    zero=True,
                )
            )
    return charts


def ablation_values(report: Report) -> dict[str, Any]:
    """Returns what the page shows: every ablation of the plan, measured."""
    tables = report.all_tables.values()
    measured = [
        measure_ablation(ablation, report.results, gap_of(ablation.runs, tables))
        for ablation in report.ablations
    ]
    return {"ablations": measured, "figures": effects_of(measured)}


PAGE = Page(
    "Ablations", "pages/ablations.html", "ablations.html.j2", ablation_values, order=4, group="Methods"
)
