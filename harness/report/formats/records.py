"""A table for programs: one record a cell, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from harness.report.tables.model import Cell, Column, Table, TableRow

FIELDS = (
    "table", "row", "title", "group", "column", "mark", "unit", "ours", "sd", "n", "published", "delta",
    "verdict", "runs", "seeds_values", "note", "contributed", "contributed_runs", "contributed_checked",
)  # fmt: skip
"""The columns of a record, in their order. ours, sd, published, delta: in the table's unit, unrounded.
contributed: what others ran, in no other column, with how far each was checked."""


FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d\s.])")
"""How a text begins that a spreadsheet would compute."""


def records(table: Table) -> Iterator[dict[str, Any]]:
    """Yields one record for every cell that holds a number or a verdict, row by row; keys as in `FIELDS`."""
    for row, column, cell in table.cells():
        if cell.value is not None or cell.published is not None or cell.contributed:
            yield dict(zip(FIELDS, _fields(table, row, column, cell), strict=True))


def _fields(table: Table, row: TableRow, column: Column, cell: Cell) -> tuple[Any, ...]:
    return (
        table.key, row.key, row.title, row.group, column.key, column.mark,
        "plain" if column.plain else table.unit, cell.value, cell.sd, cell.n, cell.published, cell.delta,
        cell.verdict, list(cell.runs), list(cell.values), cell.note,
        [value * table.scale / 100 for group in cell.contributed for value in group.values],
        [key for group in cell.contributed for key in group.runs],
        "; ".join(group.level for group in cell.contributed for _ in group.runs),
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


def to_json(table: Table) -> str:
    """Returns a table with its records as one JSON object."""
    about = {
        "key": table.key,
        "title": table.title,
        "unit": table.unit,
        "protocol": table.protocol,
        "notes": list(table.notes),
        "cells": list(records(table)),
    }
    return json.dumps(about, ensure_ascii=False, indent=1) + "\n"
