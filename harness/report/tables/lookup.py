"""The cells that a reader names by words: a table, a row and a column."""

from __future__ import annotations

from harness.errors import InputError, near_matches
from harness.report.tables.model import Cell, Table, TableRow


def find_cells(table: Table, row: str, column: str) -> list[tuple[TableRow, Cell]]:
    """Returns the cells of a column in every row of this name: its key, its title, or its group and title.

    Names are compared without regard to case. Errors: InputError with near matches if there is none.
    """
    titles = {
        name.lower(): index for index, shown in enumerate(table.columns) for name in (shown.title, shown.key)
    }
    if column.lower() not in titles:
        known = [shown.key for shown in table.columns]
        raise InputError(
            f"table {table.key} has no column {column!r}, expected one of {', '.join(known)}"
            f"{near_matches(column, known)}; correct the name"
        )
    found = [
        (line, line.cells[titles[column.lower()]])
        for line in table.rows
        if row.lower() in {name.lower() for name in row_names(line)}
    ]
    if not found:
        known = list(dict.fromkeys(name for line in table.rows for name in row_names(line)))
        raise InputError(
            f"table {table.key} has no row {row!r}{near_matches(row, known)}; expected a title, GROUP TITLE "
            "or a key as in leaderboards/published; correct the name"
        )
    return found


def row_names(row: TableRow) -> list[str]:
    """Returns what a row may be called: its key, its title, and group and title."""
    return [row.key, row.title, *([f"{row.group} {row.title}"] if row.group else [])]
