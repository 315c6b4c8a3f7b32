"""The report without HTML: every table in each text form, the scores of each run as metrics of DVC, and
one Markdown page with links to them.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.evidence.moved import HEADLINE
from harness.evidence.schema import ResultFile
from harness.evidence.statistics import mean
from harness.report.formats.latex import to_latex
from harness.report.formats.markdown import escape, to_markdown
from harness.report.runs import selected_scores
from harness.report.tables.leaderboard import STS
from harness.report.tables.model import Cell, Column, Table, TableRow

ALL_RESULTS = "tables/results.csv"
"""Every cell of every table, as seen from the report's folder."""
MEAN_METRIC = "Mean"
DECIMALS = 4
"""Of a metric."""
FIELDS = (
    "table", "row", "title", "group", "column", "mark", "unit", "ours", "sd", "n", "published", "delta",
    "verdict", "runs", "seeds_values", "note",
)  # fmt: skip
"""The columns of a record, in their order. ours, sd, published, delta: in the table's unit, unrounded."""
FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d\s.])")
"""First characters of texts that a spreadsheet would compute."""


def text_files(
    tables: Mapping[str, Table], problems: Iterable[str], *, notes: Iterable[str] = ()
) -> dict[str, str]:
    """Returns index.md, every table in each form, and all of them as one CSV, by path below the report.

    notes: information for the reader before the numbers.
    """
    files = {"index.md": to_summary(tables, problems, notes=notes)}
    for table in tables.values():
        path = path_of(table)
        files[f"{path}.md"] = to_markdown(table)
        files[f"{path}.tex"] = to_latex(table)
        files[f"{path}.csv"] = to_csv([table])
    return {**files, ALL_RESULTS: to_csv(tables.values())}


def path_of(table: Table) -> str:
    """Returns the path of a table below the report, without the ending."""
    return f"tables/{table.key.replace('/', '-')}"


def to_summary(tables: Mapping[str, Table], problems: Iterable[str], *, notes: Iterable[str] = ()) -> str:
    """Returns the report as one Markdown page: the STS scores of the runs, the other tables as links."""
    lines = ["# sentbench", "", *notes, ""]
    for key in STS:
        if key in tables:
            lines += [to_markdown(tables[key]), ""]
    lines += ["## Tables and figures of the papers", ""]
    for key, table in tables.items():
        if key not in STS:
            lines.append(f"* [{escape(table.title)}]({path_of(table)}.md)")
    lines += ["", *(f"* {escape(problem)}" for problem in problems)]
    return "\n".join(lines).rstrip() + "\n"


def records(table: Table) -> Iterator[dict[str, Any]]:
    """Yields one record for every cell with a number or a verdict, row by row; keys as in `FIELDS`."""
    for row, column, cell in table.cells():
        if cell.value is not None or cell.published is not None:
            yield dict(zip(FIELDS, _fields(table, row, column, cell), strict=True))


def _fields(table: Table, row: TableRow, column: Column, cell: Cell) -> tuple[Any, ...]:
    form = table.format(column)

    def shown(points: float | None) -> float | None:
        return None if points is None else form.number(points)

    return (
        table.key, row.key, row.title, row.group, column.key, column.mark,
        "plain" if column.plain else table.unit, shown(cell.value), shown(cell.sd), cell.n,
        shown(cell.published), shown(cell.delta), None if cell.judged is None else cell.judged.text,
        list(cell.runs), [form.number(value) for value in cell.values], cell.note,
    )  # fmt: skip


def to_csv(tables: Iterable[Table]) -> str:
    """Returns the records of tables as CSV with a head; runs and their values are joined by blanks."""
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
    writer.writeheader()
    for table in tables:
        for record in records(table):
            writer.writerow({name: _plain(value) for name, value in record.items()})
    return text.getvalue()


def _plain(value: Any) -> Any:
    text = " ".join(map(str, value)) if isinstance(value, list) else value
    return f"'{text}" if isinstance(text, str) and FORMULA.match(text) else text


def metrics_files(results: Iterable[ResultFile]) -> dict[str, str]:
    """Returns the metrics of each run as JSON, by path below the report."""
    return {
        f"tables/metrics/{result.run.key}.json": json.dumps(flat_metrics(result), indent=1) + "\n"
        for result in results
    }


def flat_metrics(result: ResultFile) -> dict[str, float]:
    """Returns scores x 100 by task, of the first weights that the run selects, and the mean of its test sets.

    Settings other than `all` and tasks with settings in their name are skipped; the mean excludes development
    sets.
    """
    metrics: dict[str, float] = {}
    for metric in HEADLINE:  # at most one per task: the first one
        for score in selected_scores(result):
            if (score.metric, score.setting) == (metric, "all") and ":" not in score.task:
                metrics.setdefault(score.task, round(100 * score.value, DECIMALS))
    test = [value for task, value in metrics.items() if not task.endswith("-dev")]
    return {**metrics, **({MEAN_METRIC: round(mean(test), DECIMALS)} if test else {})}
