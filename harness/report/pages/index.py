"""The main page: leaderboards, figures of the training, the papers with their tallies, every run's record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.errors import InputError
from harness.facts.run_choice import RunSystem
from harness.report.charts import figures
from harness.report.charts.chart import Chart
from harness.report.charts.curves import CurvePoint
from harness.report.charts.scatter import Shape, scatter
from harness.report.pages.answers import answer_values
from harness.report.pages.content import Report
from harness.report.pages.declared import MAIN, Page
from harness.report.pages.runs import FILE, has_own_page
from harness.report.runs import RunDetail
from harness.report.tables.model import Table
from harness.results.schema import ResultFile

PROTOCOL = (
    "STS: Spearman correlation of cosines with gold scores, over all pairs of a test set.",
    "Selection: the checkpoint best on STS-B dev; the untrained encoder does not compete.",
    "Text: tokenised and lower-cased as in SentEval.",
)

MANY = 24
"""The most systems that a chart of the overview draws in panels of their own."""
NAMED = 40
"""The most systems that a chart of the overview names next to their points."""


def index_values(report: Report) -> dict[str, Any]:
    """Returns what the main page shows. Errors: as `checked` and `system_curves`."""
    reported = [table for paper in report.papers for table in paper.tables]
    apart = has_own_page(report)
    return {
        **answer_values(report, reported),
        "report": checked(report, report.tables),
        "figures": [*training_figures(report.runs), *geometry_figure(report.results)],
        "curves": {} if apart else figures.system_curves(report.runs.values()),
        "records_at": FILE if apart else "",
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
    """Returns the dev curves of the trained systems and a strip plot of seeds.

    None where no run has more than one evaluation, nor for more systems than a reader can tell apart.
    """
    curves: dict[str, list[CurvePoint]] = {}
    finals: dict[str, list[float]] = {}
    for run in runs.values():
        if len(run.curve) > 1:
            curves.setdefault(run.system, []).extend(run.curve)
            finals.setdefault(run.system, []).append(100 * run.result.selection.best_dev)
    if not 0 < len(curves) <= MANY:
        return []
    return [
        Chart(
            "dev-curves",
            "Learning on the development set",
            figures.dev_curves(curves),
            "STS-B dev Spearman against steps; thin lines are seeds, the band is their standard deviation.",
        ),
        Chart(
            "seeds",
            "Every seed",
            figures.seed_strip(finals, {}, key="seeds"),
            "STS-B dev Spearman of the selected checkpoint, one mark a seed.",
        ),
    ]


def geometry_figure(results: Sequence[ResultFile]) -> list[Chart]:
    """Returns one chart of alignment against uniformity of every system, none where neither was measured."""
    found: dict[str, list[Shape]] = {}
    for result in results:
        values = {
            score.metric: score.value
            for score in result.scores
            if score.metric in ("alignment", "uniformity")
            and score.setting == "all"
            and score.selection == result.scores[0].selection
            and not score.task.endswith("-dev")
        }
        if len(values) == 2:
            run = result.run
            label = RunSystem.of(run.id, run.method, run.variant, run.backbone).label
            found.setdefault(label, []).append(Shape(**values))
    if not found:
        return []
    return [
        Chart(
            "geometry",
            "Alignment and uniformity",
            scatter(found, names=len(found) <= NAMED, key="geometry"),
            "Of unit vectors of STS-B test, a point a system on one backbone, mean over seeds; lower is "
            "better in both, and low alignment alone says little: a constant encoder has 0 (Wang and Isola "
            "2020).",
        )
    ]


PAGE = Page("Overview", MAIN, "index.html.j2", index_values, order=0)
