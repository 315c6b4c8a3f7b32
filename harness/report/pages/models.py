"""Models of one's own, scored by `sentbench evaluate --keep`: one table for each form of the texts."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.report.formats.scores import PLAIN, average_of, headline_of
from harness.report.pages.content import Page, Report
from harness.results.kept_models import KeptModel

TEXTS = {"senteval": "SentEval's tokenised text", "raw": "raw text, as MTEB has it"}
AVERAGES = ("sts", "sts-part")
"""Suites whose average a table shows: the first one that a model of it has whole."""


def model_values(report: Report) -> dict[str, Any] | None:
    """Returns what the page shows; None where no model was kept."""
    if not report.own_models:
        return None
    tables = []
    for text, words in TEXTS.items():
        models = [model for model in report.own_models if model.text == text]
        if models:
            tables.append({"text": text, "words": words, **_table(models, report.suites)})
    return {"tables": tables}


def _table(models: list[KeptModel], suites: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Returns the tasks of a table, its suite, and its rows, the model with the highest average first."""
    averages = {
        suite: [found and found[2] for found in (average_of(suites[suite], model.scores) for model in models)]
        for suite in AVERAGES
        if suite in suites
    }
    suite = next((name for name, found in averages.items() if any(one is not None for one in found)), "")
    means = averages.get(suite, [None] * len(models))
    tasks = list(dict.fromkeys(score.task for model in models for score in model.scores))
    rows = [(model, _cells(model, tasks), mean) for model, mean in zip(models, means, strict=True)]
    rows.sort(key=lambda row: (row[2] is None, -(row[2] or 0.0), row[0].name))
    return {"tasks": tasks, "suite": suite, "averaged": ", ".join(suites.get(suite, ())), "rows": rows}


def _cells(model: KeptModel, tasks: list[str]) -> list[tuple[str, str]]:
    """Returns the headline score of each task and what it is; nothing where the model has none."""
    cells = []
    for line in (headline_of(task, model.scores) for task in tasks):
        if line is None:
            cells.append(("", ""))
            continue
        scale = 1 if line.metric in PLAIN else 100
        about = f"{line.metric}, {line.setting}, {line.n:,} items"
        if line.interval is not None:
            low, high = (scale * end for end in line.interval)
            about += f", 95 % interval {low:.2f} to {high:.2f}"
        cells.append((f"{scale * line.value:.2f}", about))
    return cells


PAGE = Page("Own models", "pages/models.html", "models.html.j2", model_values, order=3, group="Systems")
