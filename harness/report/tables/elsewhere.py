"""What others report of the same system: the same row and column in the tables of other papers."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report.tables.model import Table, TableRow
from harness.report.tables.published import KnownSpreads, Published


def reported_elsewhere(
    published: Published, spreads: KnownSpreads, *, table: str, row: str, column: str
) -> list[float]:
    """Returns the values other papers print of published row `row`, in the printed scale of `table`.

    A value that several papers repeat counts once, the paper's own value not at all. The mean of a public
    study of many seeds counts as a report where it names this column.
    """
    own = published.table(table)
    paper, metric = table.split("/")[0], own.metric
    found: dict[float, None] = {}
    for key, other in published.tables.items():
        if key.split("/")[0] == paper or column not in other.columns or other.metric != metric:
            continue
        for line in other.rows:
            value = other.compared(line, column) if line.key == row else None
            if value is not None:
                found[value * own.scale / other.scale] = None
    for entry in spreads.entries:
        if (f"{entry.method}@{entry.backbone}", entry.column, entry.metric) == (row, column, metric):
            found[entry.mean * own.scale / spreads.scale] = None
    for line in own.rows:
        if line.key == row:
            found.pop(own.compared(line, column) or float("nan"), None)
    return list(found)


def strip_column(table: Table, means: Sequence[str]) -> str | None:
    """Returns the column a strip plot of the table is drawn of: its last mean, None if it has none."""
    shown = [column.key for column in table.columns if column.key in means]
    return shown[-1] if shown else None


def row_label(row: TableRow) -> str:
    """Returns a row's name outside of its table: group and title."""
    return f"{row.title} ({row.group})" if row.group else row.title
