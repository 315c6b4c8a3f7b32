"""The protocols: what one encoder scores under every protocol that its score file holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.facts import statistics
from harness.report.pages.content import Report
from harness.report.pages.declared import Page
from harness.report.runs import selected_scores
from harness.results.schema import ResultFile, RunRecord

ABLATION_TEXT = "-ablation-text"
"""Ends the id of the run that differs from a declared one in its text form alone (harness/plan/ablations.py).
"""


class Reading(NamedTuple):
    """A score x 100 over seeds; `tasks` is how many test sets it is the mean of."""

    mean: float
    sd: float | None
    n: int
    tasks: int


@dataclass(frozen=True)
class Protocol:
    """One way to score: a column of the protocols. `how` says what gives it where it is missing."""

    key: str
    title: str
    group: str
    how: str


PROTOCOLS = (
    Protocol("spearman/all", "all pairs", "Spearman, subsets joined by", "tasks with subsets"),
    Protocol("spearman/mean", "mean", "Spearman, subsets joined by", "tasks with subsets"),
    Protocol("spearman/wmean", "weighted mean", "Spearman, subsets joined by", "tasks with subsets"),
    Protocol("pearson/all", "all pairs", "Pearson, subsets joined by", "tasks with subsets"),
    Protocol("pearson/mean", "mean", "Pearson, subsets joined by", "tasks with subsets"),
    Protocol("pearson/wmean", "weighted mean", "Pearson, subsets joined by", "tasks with subsets"),
    Protocol("SICKR", "4,927", "SICK-R pairs", "sentbench evaluate DIR --tasks SICKR"),
    Protocol("SICKR-mteb", "9,927", "SICK-R pairs", "sentbench evaluate DIR --tasks SICKR-mteb --text raw"),
    Protocol("senteval", "tokenised", "STS-B text", "tasks with STSB"),
    Protocol("raw", "raw", "STS-B text", "sentbench plan ablation/RUN && dvc repro"),
)


@dataclass(frozen=True)
class ProtocolRow:
    """One encoder under the protocols, in the order of `PROTOCOLS`; None where no score is there."""

    system: RunRecord
    readings: tuple[Reading | None, ...]

    @property
    def range(self) -> float | None:
        """Largest minus smallest of the Spearman readings that join subsets; None below two."""
        found = [reading.mean for reading in self.readings[:3] if reading]
        return max(found) - min(found) if len(found) > 1 else None


@dataclass(frozen=True)
class Protocols:
    """The rows, the protocols that no row has, and per backbone the poolings of the untrained encoder."""

    rows: tuple[ProtocolRow, ...]
    missing: tuple[Protocol, ...]
    poolings: Mapping[str, Mapping[str, Mapping[str, Reading]]]


Scores = dict[tuple[str, str, str], dict[int, float]]
"""(task, metric, setting) -> value by seed, of the selected weights."""


def compare_protocols(results: Iterable[ResultFile]) -> Protocols:
    """Returns every system's readings; the runs of the text step give the raw column of their system."""
    runs: dict[str, RunRecord] = {}
    found: dict[str, Scores] = {}
    for result in results:
        system = f"{result.run.id}@{result.run.backbone}"
        runs.setdefault(system, result.run)
        scores = found.setdefault(system, {})
        for score in selected_scores(result):
            key = (score.task, score.metric, score.setting)
            scores.setdefault(key, {})[result.run.seed] = score.value
    rows = [
        ProtocolRow(run, _readings(found[system], found.get(f"{run.id}{ABLATION_TEXT}@{run.backbone}", {})))
        for system, run in runs.items()
        if not run.id.endswith(ABLATION_TEXT)
    ]
    missing = [p for index, p in enumerate(PROTOCOLS) if not any(row.readings[index] for row in rows)]
    return Protocols(tuple(rows), tuple(missing), _poolings(runs, found))


def _readings(scores: Scores, raw: Scores) -> tuple[Reading | None, ...]:
    """One reading a protocol. The three ways to join subsets are means over the same tasks."""
    joined = {
        metric: [task for task, m, setting in scores if (m, setting) == (metric, "wmean")]
        for metric in ("spearman", "pearson")
    }
    found: list[Reading | None] = []
    for protocol in PROTOCOLS:
        metric, _, setting = protocol.key.partition("/")
        if setting:
            found.append(_mean([scores.get((task, metric, setting), {}) for task in joined[metric]]))
        elif protocol.key in ("senteval", "raw"):
            source = scores if protocol.key == "senteval" else raw
            found.append(_mean([source.get(("STSB", "spearman", "all"), {})]))
        else:
            found.append(_mean([scores.get((protocol.key, "spearman", "all"), {})]))
    return tuple(found)


def _mean(tasks: Sequence[Mapping[int, float]]) -> Reading | None:
    """The mean over tasks for the seeds that have all of them, x 100."""
    seeds = set(tasks[0]).intersection(*tasks[1:]) if tasks else set()
    values = [100 * statistics.mean([task[seed] for task in tasks]) for seed in sorted(seeds)]
    if not values:
        return None
    return Reading(statistics.mean(values), statistics.sample_sd(values), len(values), len(tasks))


def _poolings(
    runs: Mapping[str, RunRecord], scores: Mapping[str, Scores]
) -> dict[str, dict[str, dict[str, Reading]]]:
    """Backbone -> pooling -> test set -> reading, of backbones with at least two pooled, untrained runs.

    Tasks that pick pairs of another one (a name with arguments) are left out.
    """
    found: dict[str, dict[str, dict[str, Reading]]] = {}
    for system, run in runs.items():
        if run.method == "pooled":
            row = {
                task: reading
                for (task, metric, setting), values in scores[system].items()
                if (metric, setting) == ("spearman", "all")
                and ":" not in task
                and (reading := _mean([values]))
            }
            found.setdefault(run.backbone, {})[run.variant] = row
    return {backbone: poolings for backbone, poolings in found.items() if len(poolings) > 1}


def protocol_values(report: Report) -> dict[str, Any]:
    """Returns what the page shows: every encoder under every protocol that one of them has a score of."""
    protocols = compare_protocols(report.results)
    columns = [index for index, protocol in enumerate(PROTOCOLS) if protocol not in protocols.missing]
    return {
        "protocols": protocols,
        "columns": columns,
        "shown_protocols": [PROTOCOLS[index] for index in columns],
    }


PAGE = Page(
    "Protocols", "pages/protocols.html", "protocols.html.j2", protocol_values, order=5, group="Methods"
)
