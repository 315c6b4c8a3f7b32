"""What the forms of a table share: how numbers print, and the words around the cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

from harness.facts.verdicts import MARGIN, Verdict
from harness.report.contributed import contributed_text
from harness.report.tables.model import Cell, Column, Table, TableRow

MARKS: dict[Verdict, str] = {
    "replicates": "=",
    "replicates within run-to-run variation": "≈",
    "does not replicate (lower)": "↓",
    "does not replicate (higher)": "↑",
    "inconclusive": "?",
    "independent runs agree": "○=",
    "independent runs score lower": "○↓",
    "independent runs score higher": "○↑",
    "independent evidence is inconclusive": "○?",
    "authors only": "‡",
    "no independent result": "",
}
"""The sign of each verdict: a bare one is by our seeds, one behind a circle by those of others."""

SETTING_MARKS = {None: "", True: "=", False: "≠"}
"""The sign of a setting or a count by whether it is the reported one."""

CITED = "†"

MEANINGS: dict[Verdict, str] = {  # each follows its mark
    "replicates": f" replicates (within {MARGIN:g} points)",
    "replicates within run-to-run variation": " replicates within run-to-run variation",
    "does not replicate (lower)": " does not replicate (our scores are lower)",
    "does not replicate (higher)": " does not replicate (our scores are higher)",
    "inconclusive": "+n inconclusive (n more seeds advised)",
    "independent runs agree": " independent runs agree",
    "independent runs score lower": f" independent runs score lower by more than {MARGIN:g} points",
    "independent runs score higher": f" independent runs score higher by more than {MARGIN:g} points",
    "independent evidence is inconclusive": " independent evidence is inconclusive",
    "authors only": " authors only",
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

    legend: the verdicts that a reader meets, in the order of `MEANINGS`; cited: whether a cell is only
    cited. remarks: the table's notes, then
    those of its rows and cells, each with what it belongs to.
    """

    lines: tuple[Line, ...]
    seeds: str
    legend: tuple[Verdict, ...]
    cited: bool
    remarks: tuple[str, ...]

    @property
    def explained(self) -> list[str]:
        """The mark and the meaning of every verdict of the legend, then of the mark of cited values."""
        found = [f"{MARKS[verdict]}{MEANINGS[verdict]}" for verdict in self.legend]
        return [*found, f"{CITED} cited, not ours"] if self.cited else found


def outline(table: Table) -> Outline:
    """Returns what every text form of a table prints around its cells."""
    groups = [row.group for row in table.rows]
    starts = [group if group != before else "" for before, group in zip(["", *groups], groups, strict=False)]
    cells = [cell for row in table.rows for cell in row.cells]
    found = {cell.verdict for cell in cells}
    return Outline(
        lines=tuple(Line(row, start, row_seeds(row)) for row, start in zip(table.rows, starts, strict=True)),
        seeds=describe_seeds(table),
        legend=tuple(verdict for verdict in MEANINGS if verdict in found),
        cited=any(is_cited(cell) for cell in cells),
        remarks=tuple(list_remarks(table)),
    )


TASKS = {"STSB": "STS-B", "SICKR": "SICK-R"}


def task_title(name: str) -> str:
    """Returns what a reader calls a task of a result file: `STS12-part` is STS12 (partial)."""
    base, _, arguments = name.partition(":")
    words = {"part": "(partial)", "dev": "dev", "mteb": "as in MTEB", "hard": "hard", "length": "length"}
    first, *rest = base.split("-")
    shown = " ".join([TASKS.get(first, first), *(words.get(word, word) for word in rest)])
    return f"{shown} ({arguments.replace(':', ', ')})" if arguments else shown


def format_number(value: float, column: Column, decimals: int) -> str:
    """Returns a number as it is shown in a column."""
    return f"{value:.10g}" if column.plain else f"{value:.{decimals}f}"


def shown_cells(table: Table, row: TableRow, form: Callable[[Cell, Column, int], str]) -> list[str]:
    """Returns the cells of a row, each in a form that takes its column and the table's decimals."""
    pairs = zip(table.columns, row.cells, strict=True)
    return [form(cell, column, table.decimals) for column, cell in pairs]


def more_seeds(cell: Cell) -> int | None:
    """Returns how many more seeds are advised, None unless it is `inconclusive`."""
    return cell.more if cell.verdict == "inconclusive" else None


def mark_of(cell: Cell) -> str:
    """Returns the sign of the cell's verdict, with the seeds to add where they are known; else nothing."""
    more = more_seeds(cell)
    if not cell.verdict:
        return SETTING_MARKS[cell.as_reported]
    return MARKS[cell.verdict] + ("" if more is None else f"+{more}")


def is_cited(cell: Cell) -> bool:
    """Returns whether a cell is a published value that no run of ours is meant to fill."""
    return cell.published is not None and not cell.wanted


def row_seeds(row: TableRow) -> str:
    """Returns the number of seeds behind a row, a range if its cells differ, or nothing, as for settings."""
    counts = sorted({cell.n for cell in row.cells if cell.n})
    return "" if not counts else "-".join(str(count) for count in dict.fromkeys([counts[0], counts[-1]]))


def describe_seeds(table: Table) -> str:
    """Returns the sentence on n: one number if all cells share it, else their range; settings have none."""
    counts = {cell.n for row in table.rows for cell in row.cells if cell.value is not None}
    if not counts:
        return "Nothing run yet."
    if counts == {0}:
        return "Ours: what the recipes declare."
    few, many = min(counts), max(counts)
    seeds = "seed" if many == 1 else "seeds"
    number = str(few) if few == many else f"{few} to {many}"
    return f"Ours: mean ± standard deviation over n = {number} {seeds}."


def contributed_mean(cell: Cell, table: Table) -> str:
    """Returns the mean of what others contributed in the table's scale with its runs, or nothing."""
    values = [value for group in cell.contributed for value in group.values]
    if not values:
        return ""
    return f"{fmean(values) * table.scale / 100:.{table.decimals}f} ({len(values)})"


def list_remarks(table: Table) -> list[str]:
    """Returns the table's notes, those of its rows and cells, and what others contributed, with what they
    belong to.
    """
    remarks = list(table.notes)
    for row in table.rows:
        name = f"{row.group} {row.title}".strip()
        if row.note:
            remarks.append(f"{name}: {row.note}")
        for column, cell in zip(table.columns, row.cells, strict=True):
            if cell.note:
                remarks.append(f"{name}, {column.title}: {cell.note}")
            for group in cell.contributed:
                remarks.append(f"{name}, {column.title}: contributed, in points: {contributed_text(group)}")
    return remarks
