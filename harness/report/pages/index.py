"""The main page: leaderboards, figures of the training, the papers with their tallies, every run's record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.errors import InputError
from harness.report.charts import figures
from harness.report.charts.chart import Chart
from harness.report.charts.curves import CurvePoint
from harness.report.pages.answers import answer_values
from harness.report.pages.content import Report
from harness.report.pages.declared import MAIN, Page
from harness.report.runs import RunDetail
from harness.report.tables.model import Table

PROTOCOL = (
    "STS: Spearman correlation of cosines with gold scores, over all pairs of a test set.",
    "Selection: the checkpoint best on STS-B dev; the untrained encoder does not compete.",
    "Text: tokenised and lower-cased as in SentEval.",
)


def index_values(report: Report) -> dict[str, Any]:
    """Returns what the main page shows. Errors: as `checked` and `system_curves`."""
    printed = [table for paper in report.papers for table in paper.tables]
    return {
        **answer_values(report, printed),
        "report": checked(report, report.tables),
        "figures": training_figures(report.runs),
        "curves": figures.system_curves(report.runs.values()),
        "protocol": PROTOCOL,
    }


def checked(report: Report, tables: tuple[Table, ...]) -> Report:
    """Returns the report with runs that nobody recorded among its problems, if `tables` can be shown.

    Errors: InputError if two tables have one key or a row does not have one cell a column.
    """
    keys = [table.key for table in tables]
    repeated = sorted({key for key in keys if keys.count(key) > 1})
    if repeated:
        raise InputError(
            f"table {repeated[0]!r} is on the page twice, expected once; give it a key of its own"
        )
    for table in tables:
        for row in table.rows:
            if len(row.cells) != len(table.columns):
                raise InputError(
                    f"table {table.key!r}, row {row.key!r}: {len(row.cells)} cells, "
                    f"expected {len(table.columns)}, one a column; build the table again"
                )
    lost = [
        f"Run {key} fills a cell but has no record; evaluate it again." for key in report.unrecorded(tables)
    ]
    return replace(report, problems=(*report.problems, *lost))


def training_figures(runs: Mapping[str, RunDetail]) -> list[Chart]:
    """Returns the dev curves of the trained systems, their geometry, and a strip plot of seeds.

    None where no run has more than one evaluation.
    """
    curves: dict[str, list[CurvePoint]] = {}
    finals: dict[str, list[float]] = {}
    for run in runs.values():
        if len(run.curve) > 1:
            curves.setdefault(run.system, []).extend(run.curve)
            if run.selection is not None:
                finals.setdefault(run.system, []).append(100 * run.selection.best_dev)
    if not curves:
        return []
    return [
        Chart(
            "dev-curves",
            "Learning on the development set",
            figures.dev_curves(curves),
            "STS-B dev Spearman against steps; thin lines are seeds, the band is their spread.",
        ),
        Chart(
            "geometry",
            "Alignment and uniformity",
            figures.geometry(curves),
            "Of unit vectors of STS-B dev, lower is better in both (Wang and Isola 2020).",
        ),
        Chart(
            "seeds",
            "Every seed",
            figures.seed_strip(finals, {}, key="seeds"),
            "STS-B dev Spearman of the selected checkpoint, one mark a seed.",
        ),
    ]


PAGE = Page("Overview", MAIN, "index.html.j2", index_values, order=0)
