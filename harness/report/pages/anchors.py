"""Addresses inside a page: one for every table, row and cell, the same on every page and in every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from harness.report.runs import slug
from harness.report.tables.model import Table, TableRow


@dataclass(frozen=True)
class Anchors:
    """The ids of a table: `table-KEY`, and of its rows and their cells by position."""

    table: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    def cell(self, row: int, column: int) -> str:
        """Returns the id of a cell."""
        return f"{self.rows[row]}--{self.columns[column]}"


def anchors_of(table: Table) -> Anchors:
    """Returns the ids of a table, made of its key, its rows' titles, and its columns' keys.

    A title that several rows have is named with its group.
    """
    key = slug(table.key)
    titles = Counter(slug(row.title) for row in table.rows)
    rows = _distinct(
        slug(row.title) if titles[slug(row.title)] == 1 else slug(f"{row.group} {row.title}")
        for row in table.rows
    )
    columns = _distinct(slug(column.key) for column in table.columns)
    return Anchors(f"table-{key}", tuple(f"{key}--{row}" for row in rows), tuple(columns))


def cell_anchor(table: Table, row: TableRow, column: str) -> str:
    """Returns the id of the cell of a row of the table in a column, named by its key."""
    keys = [shown.key for shown in table.columns]
    return anchors_of(table).cell(table.rows.index(row), keys.index(column))


def _distinct(names: Iterable[str]) -> list[str]:
    """Returns the names, a repeated one with its number behind it."""
    found: dict[str, None] = {}
    for name in names:
        same, number = name, 1
        while same in found:
            number += 1
            same = f"{name}-{number}"
        found[same] = None
    return list(found)
