"""The strip of a cell: its published value, the results of others, of its authors and ours, on one scale."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.report.tables.model import Cell, Table, TableRow, row_label

REACH = 2.0
"""Points on each side of the published value, in every strip; what lies further off is at the edge."""
FEW = 3
"""Rows of a table that is shown as a whole, although nobody measured it again."""
STRIP_WIDTH = 30
"""Pixels on each side of the published value."""


@dataclass(frozen=True)
class Strip:
    """Positions in pixels from the published value, rounded to tenths.

    interval: of the mean of independent sources; middle: the median of these sources. If one lab decides,
    both are of its runs: the interval of their mean, and the mean. authors: each run of its authors, or their
    mean; ours: our mean. None or empty if nothing is known.
    """

    interval: tuple[float, float] | None
    middle: float | None
    authors: tuple[float, ...]
    ours: float | None


def strip_of(cell: Cell) -> Strip | None:
    """Returns the strip of a cell; None if nobody measured its published value again."""
    judged = cell.judged
    if judged is None:
        return None
    value, pool = judged.number.value, judged.others.independent
    same = judged.others.pools["same authors"]
    interval = judged.by_others.interval
    middle = None if pool.median is None else pool.median - value
    if judged.by_others.source:
        middle = judged.by_others.difference
    strip = Strip(
        interval=None if interval is None else (_place(interval.low), _place(interval.high)),
        middle=None if middle is None else _place(middle),
        authors=tuple(_place(run - value) for run in same.values or tuple(same.sources.values())),
        ours=None if cell.value is None else _place(cell.value - value),
    )
    return None if strip == Strip(None, None, (), None) else strip


def _place(difference: float) -> float:
    return round(STRIP_WIDTH * max(-1.0, min(1.0, difference / REACH)), 1)


def is_bare(row: TableRow) -> bool:
    """Returns whether nobody measured a row again: no run of ours, and no verdict by others or authors. A row
    of settings, which nobody could measure, is not bare."""
    known = [cell.judged for cell in row.cells if cell.judged is not None]
    return (
        (bool(known) or all(cell.published is None for cell in row.cells))
        and all(cell.value is None for cell in row.cells)
        and all(judged.verdict.by == "nobody" for judged in known)
    )


def bare_rows(table: Table) -> tuple[int, int]:
    """Returns the number of rows of a table that are folded, and the number of their published scores: those
    that are bare, but none of a table of FEW rows that would have none left.
    """
    rows = [row for row in table.rows if is_bare(row)]
    if len(rows) == len(table.rows) <= FEW:
        return 0, 0
    return len(rows), sum(cell.judged is not None for row in rows for cell in row.cells)


def averages_first(table: Table) -> list[int]:
    """Returns the positions of the columns as pages show them: averages first."""
    return sorted(range(len(table.columns)), key=lambda index: not table.columns[index].average)


def row_notes(rows: Iterable[TableRow]) -> list[tuple[list[str], str]]:
    """Returns each different note of the rows once, with the names of its rows."""
    notes: dict[str, list[str]] = {}
    for row in rows:
        notes.setdefault(row.note, []).append(row_label(row))
    return [(names, note) for note, names in notes.items()]
