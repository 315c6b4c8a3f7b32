"""A table as aligned plain text."""

from __future__ import annotations

import re
from itertools import zip_longest

from harness.report.formats.markdown import DASH
from harness.report.formats.text import CITED, format_number, is_cited, mark_of, outline, shown_cells
from harness.report.tables.model import Cell, Column, Table


def to_terminal(table: Table) -> str:
    """Returns the table with aligned columns: our mean ± sd, the verdict's mark, the published value.

    `*` marks the rows of which no competing one is shown to be better.
    """
    around = outline(table)
    lines = [["", "n", *(column.title for column in table.columns)]]
    if any(column.mark for column in table.columns):
        lines.append(["", "", *(f"({column.mark})" if column.mark else "" for column in table.columns)])
    for line in around.lines:
        if line.group:
            lines.append([f"{line.group}:"])
        lines.append([line.row.title, line.seeds, *shown_cells(table, line.row, format_cell)])
    foot = [around.seeds, table.protocol, "; ".join(around.explained), *around.remarks]
    title = f"{table.title} [{table.key}]"
    plain = [" ".join(text.split()) for text in foot]
    return "\n".join([" ".join(title.split()), "", *align(lines), "", *filter(None, plain)]) + "\n"


def align(lines: list[list[str]], lefts: int = 1) -> list[str]:
    """Returns the lines in columns: the first `lefts` of them to the left and the others to the right."""
    lines = [[re.sub(r"\s", " ", text) for text in line] for line in lines]
    widths = [max(map(len, column)) for column in zip_longest(*lines, fillvalue="")]
    return [
        "  ".join(
            text.ljust(width) if index < lefts else text.rjust(width)
            for index, (text, width) in enumerate(zip(line, widths, strict=False))
        ).rstrip()
        for line in lines
    ]


def format_cell(cell: Cell, column: Column, decimals: int) -> str:
    """Returns one cell; a missing value is a dash."""
    parts = [DASH] if cell.value is None and not is_cited(cell) else []
    if cell.value is not None:
        sign = "*" if cell.leads else ""
        sd = "" if cell.sd is None else f"±{format_number(cell.sd, column, decimals)}"
        parts.append(f"{sign}{format_number(cell.value, column, decimals)}{sd}")
    parts += [CITED if is_cited(cell) else "", mark_of(cell)]
    if cell.published is not None:
        parts.append(f"({format_number(cell.published, column, decimals)})")
    return " ".join(filter(None, parts))
