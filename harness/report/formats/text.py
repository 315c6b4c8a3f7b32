"""A table as aligned plain text, and shared parts of text formats: number formatting and texts around the
cells."""

import re
from collections.abc import Callable
from itertools import zip_longest

from harness.evidence.words import scale
from harness.report.formats.number import Format
from harness.report.tables.model import Cell, Table, TableRow

SETTING_MARKS = {None: "", True: "=", False: "≠"}
"""The sign of a setting or a count by whether it is the reported one."""

CITED = "†"
DASH = "–"
"""Neither our value nor a published one is known."""


def grouped_rows(table: Table) -> list[tuple[str, TableRow]]:
    """Returns the rows, each with the name of the group that begins there, or an empty text."""
    groups = [row.group for row in table.rows]
    starts = [group if group != before else "" for before, group in zip(["", *groups], groups, strict=False)]
    return list(zip(starts, table.rows, strict=True))


CITED_WORDS = "cited, not ours"
LEADS = "* no competing row is shown to be better"


def legend_of(table: Table) -> list[tuple[str, str]]:
    """Returns the sign and the meaning of every verdict in the table, and of cited values."""
    cells = [cell for row in table.rows for cell in row.cells]
    words = {cell.judged.word for cell in cells if cell.judged is not None}
    legend = [(word.sign, f"{word.text}: {word.meaning}") for word in scale() if word in words and word.sign]
    return [*legend, (CITED, CITED_WORDS)] if any(map(is_cited, cells)) else legend


TASK_TITLES = {"STSB": "STS-B", "SICKR": "SICK-R"}


def task_title(name: str) -> str:
    """Returns the display name of a task of a result file: `STS12-part` is STS12 (partial)."""
    base, _, arguments = name.partition(":")
    words = {"part": "(partial)", "dev": "dev", "mteb": "as in MTEB", "hard": "hard", "length": "length"}
    first, *rest = base.split("-")
    shown = " ".join([TASK_TITLES.get(first, first), *(words.get(word, word) for word in rest)])
    return f"{shown} ({arguments.replace(':', ', ')})" if arguments else shown


def shown_cells(table: Table, row: TableRow, form: Callable[[Cell, Format], str]) -> list[str]:
    """Returns the cells of a row, each by `form` with the format of its column."""
    pairs = zip(table.columns, row.cells, strict=True)
    return [form(cell, table.format(column)) for column, cell in pairs]


def mark_of(cell: Cell) -> str:
    """Returns the sign of the cell's verdict, with the number of further seeds if known; otherwise empty."""
    if cell.judged is None:
        return SETTING_MARKS[cell.as_reported]
    return cell.judged.word.sign + ("" if cell.more is None else f"+{cell.more}")


def is_cited(cell: Cell) -> bool:
    """Returns whether a cell is a published value that no run of ours is meant to fill."""
    return cell.published is not None and not cell.wanted


def row_seeds(row: TableRow) -> str:
    """Returns the number of seeds of a row, a range if its cells differ, or an empty text for settings."""
    counts = sorted({cell.n for cell in row.cells if cell.n})
    return "" if not counts else "-".join(str(count) for count in dict.fromkeys([counts[0], counts[-1]]))


def describe_seeds(table: Table) -> str:
    """Returns the sentence on n: one number if all cells share it, otherwise a range; settings have none."""
    counts = {cell.n for row in table.rows for cell in row.cells if cell.value is not None}
    if not counts:
        return "Nothing run yet."
    if counts == {0}:
        return "Ours: what the recipes declare."
    few, many = min(counts), max(counts)
    seeds = "seed" if many == 1 else "seeds"
    number = str(few) if few == many else f"{few} to {many}"
    return f"Ours: mean ± standard deviation over n = {number} {seeds}."


def list_remarks(table: Table) -> list[str]:
    """Returns the notes of the table, its rows and its cells, with their places."""
    remarks = list(table.notes)
    for row in table.rows:
        name = f"{row.group} {row.title}".strip()
        if row.note:
            remarks.append(f"{name}: {row.note}")
        for column, cell in zip(table.columns, row.cells, strict=True):
            if cell.note:
                remarks.append(f"{name}, {column.title}: {cell.note}")
    return remarks


def to_terminal(table: Table) -> str:
    """Returns the table with aligned columns: our mean ± sd, the sign, the published value in brackets.

    `*` marks rows that no competing row is shown to beat, which a line below the table says.
    """
    lines = [["", "n", *(column.title for column in table.columns)]]
    if any(column.mark for column in table.columns):
        lines.append(["", "", *(f"({column.mark})" if column.mark else "" for column in table.columns)])
    for group, row in grouped_rows(table):
        if group:
            lines.append([f"{group}:"])
        lines.append([row.title, row_seeds(row), *shown_cells(table, row, plain_cell)])
    legend = ". ".join(f"{mark} {meaning}" for mark, meaning in legend_of(table))
    bold = LEADS if any(cell.leads for _, _, cell in table.cells()) else ""
    foot = [describe_seeds(table), bold, table.protocol, legend, *list_remarks(table)]
    title = f"{table.title} [{table.key}]"
    plain = [" ".join(text.split()) for text in foot]
    return "\n".join([" ".join(title.split()), "", *align(lines), "", *filter(None, plain)]) + "\n"


def align(lines: list[list[str]], lefts: int = 1) -> list[str]:
    """Returns the lines in columns, the first `lefts` left-aligned and the others right-aligned."""
    lines = [[re.sub(r"\s", " ", text) for text in line] for line in lines]
    widths = [max(map(len, column)) for column in zip_longest(*lines, fillvalue="")]
    return [
        "  ".join(
            text.ljust(width) if index < lefts else text.rjust(width)
            for index, (text, width) in enumerate(zip(line, widths, strict=False))
        ).rstrip()
        for line in lines
    ]


def plain_cell(cell: Cell, form: Format) -> str:
    """Returns one cell: ours, the sign, the published value; a dash if neither is known."""
    parts = []
    if cell.value is not None:
        sign = "*" if cell.leads else ""
        sd = "" if cell.sd is None else f"±{form.show(cell.sd)}"
        parts += [f"{sign}{form.show(cell.value)}{sd}", mark_of(cell)]
    if cell.published is not None:
        parts.append(f"({form.show(cell.published)})")
    if cell.value is None:
        parts += [mark_of(cell), CITED if is_cited(cell) else ""]
    return " ".join(filter(None, parts)) or DASH
