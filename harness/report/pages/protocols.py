"""The protocols: scores of one encoder under every protocol of its score file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.evidence import statistics
from harness.evidence.schema import RunRecord
from harness.report.pages.content import Report
from harness.report.runs import selected_scores


class Reading(NamedTuple):
    """A score x 100 over seeds."""

    mean: float
    sd: float | None


class ProtocolColumn(NamedTuple):
    """One way to score: a column of the page."""

    key: str
    title: str
    group: str


JOINED = (("all", "all pairs"), ("mean", "mean"), ("wmean", "weighted mean"))
"""Aggregations of subset scores, with their names."""
PROTOCOLS = (
    *(ProtocolColumn(f"spearman/{way}", title, "Spearman, subsets joined by") for way, title in JOINED),
    *(ProtocolColumn(f"pearson/{way}", title, "Pearson, subsets joined by") for way, title in JOINED),
    ProtocolColumn("SICKR", "4,927", "SICK-R pairs"),
    ProtocolColumn("SICKR-mteb", "9,927", "SICK-R pairs"),
)

Scores = dict[tuple[str, str, str], dict[int, float]]
"""(task, metric, setting) -> value by seed, of the selected weights."""


@dataclass(frozen=True)
class ProtocolRow:
    """The scores of one encoder by protocol."""

    system: RunRecord
    readings: Mapping[str, Reading]

    @property
    def range(self) -> float | None:
        """Largest minus smallest Spearman score over ways to join subsets; None below two."""
        ways = [f"spearman/{way}" for way, _ in JOINED]
        means = [self.readings[way].mean for way in ways if way in self.readings]
        return max(means) - min(means) if len(means) > 1 else None


def protocol_values(report: Report) -> dict[str, Any]:
    """Returns the content of the page: every encoder under every protocol with a score.
    poolings: by backbone with two or more, without tasks derived from another one (a name with arguments).
    """
    runs: dict[str, RunRecord] = {}
    scores_by_encoder: dict[str, Scores] = {}
    for result in report.results:
        system = f"{result.run.id}@{result.run.backbone}"
        runs.setdefault(system, result.run)
        scores = scores_by_encoder.setdefault(system, {})
        for score in selected_scores(result):
            key = (score.task, score.metric, score.setting)
            scores.setdefault(key, {})[result.run.seed] = score.value
    rows = [ProtocolRow(run, _readings(scores_by_encoder[system])) for system, run in runs.items()]
    poolings: dict[str, dict[str, dict[str, Reading | None]]] = {}
    for system, run in runs.items():
        if run.method == "pooled":
            poolings.setdefault(run.backbone, {})[run.variant] = {
                task: _mean([values])
                for (task, metric, setting), values in scores_by_encoder[system].items()
                if (metric, setting) == ("spearman", "all") and ":" not in task
            }
    columns = [protocol for protocol in PROTOCOLS if any(protocol.key in row.readings for row in rows)]
    return {
        "rows": rows,
        "columns": columns,
        "groups": Counter(protocol.group for protocol in columns),
        "poolings": {backbone: by_task for backbone, by_task in poolings.items() if len(by_task) > 1},
    }


def _readings(scores: Scores) -> dict[str, Reading]:
    """Returns the scores by protocol. The three ways to join subsets are means over the same tasks."""
    readings = {}
    for protocol in PROTOCOLS:
        metric, _, setting = protocol.key.partition("/")
        if setting:
            joined = [task for task, m, way in scores if (m, way) == (metric, "wmean")]
            reading = _mean([scores.get((task, metric, setting), {}) for task in joined])
        else:
            reading = _mean([scores.get((protocol.key, "spearman", "all"), {})])
        if reading:
            readings[protocol.key] = reading
    return readings


def _mean(tasks: Sequence[Mapping[int, float]]) -> Reading | None:
    """Returns the mean over tasks, x 100, for the seeds with all of them."""
    seeds = set(tasks[0]).intersection(*tasks[1:]) if tasks else set()
    values = [100 * statistics.mean([task[seed] for task in tasks]) for seed in sorted(seeds)]
    if not values:
        return None
    return Reading(statistics.mean(values), statistics.sample_sd(values))
