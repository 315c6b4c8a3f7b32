"""The ablation: the effect of each protocol choice on a run, and its share of the gap."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.evidence import statistics
from harness.evidence.schema import ResultFile
from harness.evidence.spec import MARK
from harness.evidence.statistics import WelchComparison
from harness.report.chart import Chart, Row, draw
from harness.report.pages.content import Ablation, Report
from harness.report.runs import selected_scores, slug
from harness.report.tables.model import Table


class Effect(NamedTuple):
    """Effect of a change on a score, in points, and the seeds with it and without it.

    change: difference of the means, None if a side has no scores. interval: the difference with its 95 %
    interval, None below two seeds per side.
    """

    change: float | None
    interval: WelchComparison | None
    seeds: tuple[int, int]


def effect_of(changed: Sequence[float], usual: Sequence[float]) -> Effect:
    """Returns the effect of a change on the scores of runs with it and without it."""
    change = statistics.mean(changed) - statistics.mean(usual) if changed and usual else None
    return Effect(change, statistics.compare_seeds(changed, usual), (len(changed), len(usual)))


@dataclass(frozen=True)
class MeasuredAblation:
    """An ablation with the effect of each step by its name.

    gap: published minus ours, x 100, None if unknown. declared: scores of the declared run. tasks: the test
    sets of the mean scores.
    """

    ablation: Ablation
    gap: float | None
    declared: Sequence[float]
    effects: Mapping[str, Effect]
    tasks: tuple[str, ...]

    @property
    def has_scores(self) -> bool:
        """Whether any step was run."""
        return any(effect.change is not None for effect in self.effects.values())


def measure_ablation(
    ablation: Ablation, results: Iterable[ResultFile], gap: float | None = None
) -> MeasuredAblation:
    """Returns the ablation with the mean STS score (Spearman, all pairs, without dev sets) of every step.

    A step is compared over the test sets of the declared run; runs that lack one of them do not count.
    """
    by_system: dict[str, list[dict[str, float]]] = {}
    for result in results:
        if result.run.backbone == ablation.backbone:
            sts = {
                score.task: 100 * score.value
                for score in selected_scores(result)
                if (score.metric, score.setting) == ("spearman", "all") and not score.task.endswith("-dev")
            }
            by_system.setdefault(result.run.id, []).append(sts)
    tasks = tuple(by_system.get(ablation.system, [{}])[0])

    def means(system: str) -> list[float]:
        whole = [run for run in by_system.get(system, []) if tasks and all(task in run for task in tasks)]
        return [statistics.mean([run[task] for task in tasks]) for run in whole]

    declared = means(ablation.system)
    effects = {step: effect_of(means(f"{ablation.system}{MARK}{step}"), declared) for step in ablation.steps}
    return MeasuredAblation(ablation, gap, declared, effects, tasks)


def gap_of(runs: Sequence[str], tables: Iterable[Table]) -> float | None:
    """Returns published minus ours, x 100, of the first average that only these runs fill."""
    for table in tables:
        for _, column, cell in table.cells():
            if column.key == "Avg" and cell.delta is not None and set(cell.runs) == set(runs):
                return -cell.delta
    return None


def effects_of(measured: MeasuredAblation) -> Chart | None:
    """Returns a picture of the effect of each choice in points; None if no step was run."""
    name = f"{measured.ablation.system} on {measured.ablation.backbone}"
    rows: list[Row] = []
    for step, effect in measured.effects.items():
        if effect.change is not None:
            says = f"{measured.ablation.steps[step]}: {effect.change:+.2f}"
            ends = {"low": effect.interval.low, "high": effect.interval.high} if effect.interval else {}
            rows.append({"name": step, "kind": "ours", "value": effect.change, **ends, "says": says})
    if not rows:
        return None
    most = max(rows, key=lambda row: abs(row["value"]))
    return draw(
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


def ablation_values(report: Report) -> dict[str, Any]:
    """Returns the content for the page of the small plan: every ablation of the plan, measured."""
    tables = report.all_tables.values()
    measured = [
        measure_ablation(ablation, report.results, gap_of(ablation.runs, tables))
        for ablation in report.ablations
    ]
    return {"ablations": measured, "effects": list(filter(None, map(effects_of, measured)))}
