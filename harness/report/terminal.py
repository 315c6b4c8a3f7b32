"""A table as aligned plain text."""

from __future__ import annotations

from harness.report.markdown import DASH, MARKS
from harness.report.model import Cell, Column, Table
from harness.report.text import (
    MEANINGS,
    describe_seeds,
    format_number,
    group_starts,
    list_remarks,
    more_seeds,
    row_seeds,
    used_verdicts,
)


def to_terminal(table: Table) -> str:
    """Returns the table with aligned columns: our mean ± sd, the verdict's mark, the published value.

    `*` marks the best and `'` the second best of our values.
    """
    header = [
        "",
        "n",
        *(column.title + (f" ({column.mark})" if column.mark else "") for column in table.columns),
    ]
    lines: list[list[str]] = [header]
    for group, row in zip(group_starts(table), table.rows, strict=True):
        if group:
            lines.append([f"{group}:"])
        cells = zip(table.columns, row.cells, strict=True)
        lines.append(
            [
                row.title,
                row_seeds(row),
                *(format_cell(cell, column, table.decimals) for column, cell in cells),
            ]
        )
    widths = [max(len(line[i]) for line in lines if i < len(line)) for i in range(len(header))]
    body = [
        "  ".join(
            [
                line[0].ljust(widths[0]),
                *(text.rjust(width) for text, width in zip(line[1:], widths[1:], strict=False)),
            ]
        ).rstrip()
        for line in lines
    ]
    legend = "; ".join(f"{MARKS[verdict]}{MEANINGS[verdict]}" for verdict in used_verdicts(table))
    foot = [describe_seeds(table), table.protocol, legend, *list_remarks(table)]
    return "\n".join([f"{table.title} [{table.key}]", "", *body, "", *filter(None, foot)]) + "\n"


def format_cell(cell: Cell, column: Column, decimals: int) -> str:
    """Returns one cell; a missing value is a dash."""
    parts = [DASH] if cell.value is None and cell.verdict != "cited" else []
    if cell.value is not None:
        parts.append(
            {"best": "*", "second": "'", "": ""}[cell.rank] + format_number(cell.value, column, decimals)
        )
        if cell.sd is not None:
            parts.append(f"± {format_number(cell.sd, column, decimals)}")
    more = more_seeds(cell)
    parts.append(MARKS[cell.verdict] + ("" if more is None else f"+{more}"))
    if cell.published is not None:
        parts.append(f"({format_number(cell.published, column, decimals)})")
    return " ".join(filter(None, parts))
