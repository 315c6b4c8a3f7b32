"""What the forms of a table share: how numbers print, and the words around the cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.report.tables.model import Cell, Column, Table, TableRow, Verdict

MEANINGS: dict[Verdict, str] = {  # each follows its mark
    "agrees": " agrees (within 2 standard errors)",
    "near": " near (within 1 point)",
    "differs": " differs",
    "not separable": "+n: not separable (needs n more seeds)",
    "cited": " cited, not ours",
}


@dataclass(frozen=True)
class Line:
    """One row with what stands before its cells.

    group: the group that begins with this row, or nothing. seeds: the number of seeds behind the row, a
    range if its cells differ, or nothing.
    """

    row: TableRow
    group: str
    seeds: str


@dataclass(frozen=True)
class Outline:
    """A table without its cells, the same in every text form.

    legend: the verdicts that a reader meets, in the order of `MEANINGS`. remarks: the table's notes, then
    those of its rows and cells, each with what it belongs to.
    """

    lines: tuple[Line, ...]
    seeds: str
    legend: tuple[Verdict, ...]
    remarks: tuple[str, ...]

    def explained(self, marks: Mapping[Verdict, str]) -> list[str]:
        """Returns the mark and the meaning of every verdict of the legend."""
        return [f"{marks[verdict]}{MEANINGS[verdict]}" for verdict in self.legend]


def outline(table: Table) -> Outline:
    """Returns what every text form of a table prints around its cells."""
    groups = [row.group for row in table.rows]
    starts = [group if group != before else "" for before, group in zip(["", *groups], groups, strict=False)]
    found = {cell.verdict for row in table.rows for cell in row.cells}
    return Outline(
        lines=tuple(Line(row, start, row_seeds(row)) for row, start in zip(table.rows, starts, strict=True)),
        seeds=describe_seeds(table),
        legend=tuple(verdict for verdict in MEANINGS if verdict in found),
        remarks=tuple(list_remarks(table)),
    )


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
    """Returns the table's notes, then those of its rows and cells with what they belong to."""
    remarks = list(table.notes)
    for row in table.rows:
        name = f"{row.group} {row.title}".strip()
        if row.note:
            remarks.append(f"{name}: {row.note}")
        for column, cell in zip(table.columns, row.cells, strict=True):
            if cell.note:
                remarks.append(f"{name}, {column.title}: {cell.note}")
    return remarks
