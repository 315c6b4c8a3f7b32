"""What the text forms of a table share: numbers, marks, the line on seeds, remarks, templates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.declarations import LEADERBOARDS
from harness.errors import InputError
from harness.report.tables.model import Cell, Column, Table, TableRow, Verdict

TEMPLATES = LEADERBOARDS / "templates"

MEANINGS: dict[Verdict, str] = {  # each follows its mark
    "agrees": " agrees (within 2 standard errors)",
    "near": " near (within 1 point)",
    "differs": " differs",
    "not separable": "+n: not separable (needs n more seeds)",
    "cited": " cited, not ours",
}


def format_number(value: float, column: Column, decimals: int) -> str:
    """Returns a number as it is printed in a column."""
    return f"{value:.10g}" if column.plain else f"{value:.{decimals}f}"


def more_seeds(cell: Cell) -> int | None:
    """Returns how many more seeds the cell needs, None unless its verdict is `not separable`."""
    if cell.verdict != "not separable" or cell.seeds_needed is None:
        return None
    return cell.seeds_needed - cell.n


def row_seeds(row: TableRow) -> str:
    """Returns the number of seeds behind a row, a range if its cells differ, or nothing."""
    counts = sorted({cell.n for cell in row.cells if cell.value is not None})
    return "" if not counts else "-".join(str(count) for count in dict.fromkeys([counts[0], counts[-1]]))


def describe_seeds(table: Table) -> str:
    """Returns the sentence on n: one number if all cells share it, else their range."""
    counts = {cell.n for row in table.rows for cell in row.cells if cell.value is not None}
    if not counts:
        return "Nothing run yet."
    few, many = min(counts), max(counts)
    seeds = "seed" if many == 1 else "seeds"
    number = str(few) if few == many else f"{few} to {many}"
    return f"Ours: mean ± standard deviation over n = {number} {seeds}."


def list_remarks(table: Table) -> list[str]:
    """Returns the table's notes, then those of its rows and cells with the place they belong to."""
    remarks = list(table.notes)
    for row in table.rows:
        place = f"{row.group} {row.title}".strip()
        if row.note:
            remarks.append(f"{place}: {row.note}")
        for column, cell in zip(table.columns, row.cells, strict=True):
            if cell.note:
                remarks.append(f"{place}, {column.title}: {cell.note}")
    return remarks


def used_verdicts(table: Table) -> list[Verdict]:
    """Returns the verdicts a legend must explain, in the order of `MEANINGS`."""
    found = {cell.verdict for row in table.rows for cell in row.cells}
    return [verdict for verdict in MEANINGS if verdict in found]


def group_starts(table: Table) -> list[str]:
    """Returns for each row the group that begins with it, or nothing."""
    groups = [row.group for row in table.rows]
    return [group if group != before else "" for before, group in zip(["", *groups], groups, strict=False)]


def fill_template(name: str, delimiters: Mapping[str, Any], values: Mapping[str, Any], folder: Path) -> str:
    """Returns a template of `folder` filled with `values`; text must be escaped before.

    Errors: InputError if the template is missing or wrong.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **dict(delimiters),
    )
    try:
        return environment.get_template(name).render(**values)
    except jinja2.TemplateError as error:
        raise InputError(
            f"template {folder / name}: {error or type(error).__name__}; restore it from the repository"
        ) from None
