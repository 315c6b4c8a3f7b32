"""The values of a report; templates read only these."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.errors import InputError, near_matches
from harness.evidence.judged import Judged
from harness.evidence.numbers import PublishedNumber
from harness.report.formats.number import Format


@dataclass(frozen=True)
class Cell:
    """One cell of a table, its numbers in points; settings and counts as they are.

    value: mean over our seeds, None without a run; sd: sample standard deviation, None below two seeds;
    values: scores of `runs`, in order, empty if the cell has no scores. number: the published number; judged:
    with the verdict, for scores. wanted: a run of ours is planned for the cell; otherwise the published value
    is only cited. An unranked system may fill only some columns. no_verdict: reason why our runs do not judge
    the published value, empty if they do. as_reported: whether a setting or a count equals the reported one;
    None for a score, which gets a verdict. note: on this cell (partial test set, wrong reported average).
    best: whether the published value is the best of its group.
    ranks: possible ranks of our value among competing rows, 1 the best; None if it does not compete. leads:
    whether it is bold, because no competing row is shown to be better. best_by_dev: value of our seed with
    the best development score.
    """

    value: float | None = None
    sd: float | None = None
    n: int = 0
    number: PublishedNumber | None = None
    judged: Judged | None = None
    wanted: bool = True
    no_verdict: str = ""
    as_reported: bool | None = None
    runs: tuple[str, ...] = ()
    ranks: tuple[int, int] | None = None
    leads: bool = False
    best: bool = False
    note: str = ""
    best_by_dev: float | None = None
    values: tuple[float, ...] = ()

    @property
    def published(self) -> float | None:
        """The published value, None without one."""
        return None if self.number is None else self.number.value

    @property
    def delta(self) -> float | None:
        """Our value minus the published one; None without both."""
        return None if self.value is None or self.number is None else self.value - self.number.value

    @property
    def more(self) -> int | None:
        """Advised further seeds; None if our seeds settle the number, or without any."""
        judged = self.judged
        open_by_ours = judged is not None and judged.ours is not None and not judged.verdict.is_settled
        return judged.plan.more if judged is not None and open_by_ours and judged.plan else None


@dataclass(frozen=True)
class Column:
    """A column: its key in the spec, its reported name, and a mark such as `partial` or `small-scale`.

    plain: its numbers are not scores (a count, a learning rate) and are printed with all their digits.
    average: its numbers are means of other columns, reported or of ours.
    """

    key: str
    title: str
    mark: str = ""
    plain: bool = False
    average: bool = False


@dataclass(frozen=True)
class TableRow:
    """A row: a system or variant, whose cells appear in the order of the table's columns.

    x: position of the row's points on the horizontal axis of a figure; None in a table or for a bar. is_own:
    whether the row is the paper's own method, not quoted.
    """

    key: str
    title: str
    cells: tuple[Cell, ...]
    group: str = ""
    source: str = ""
    note: str = ""
    x: float | None = None
    is_own: bool = False


def row_label(row: TableRow) -> str:
    """Returns a row's name outside of its table: group and title."""
    return f"{row.title} ({row.group})" if row.group else row.title


@dataclass(frozen=True)
class Table:
    """A rendered table's content. `protocol` names pooling, text form, test-set sizes and selection rule.

    unit: of its scores, such as `Spearman × 100`.
    kind: `figure` if the paper draws these numbers; then `x_title` names the horizontal axis. logs: the
    quantities of the training logs that the figure draws over steps.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    protocol: str = ""
    scale: float = 100.0
    decimals: int = 2
    notes: tuple[str, ...] = ()
    kind: Literal["table", "figure"] = "table"
    x_title: str = ""
    logs: tuple[str, ...] = ()
    unit: str = ""

    def format(self, column: Column) -> Format:
        """Returns the format of the numbers of a column."""
        return Format(self.scale, self.decimals, column.plain)

    @property
    def scores(self) -> Format:
        """The format of the table's scores."""
        return Format(self.scale, self.decimals)

    def cells(self) -> Iterator[tuple[TableRow, Column, Cell]]:
        """Yields every cell with its row and column, row by row."""
        for row in self.rows:
            for column, cell in zip(self.columns, row.cells, strict=True):
                yield row, column, cell


def judged_numbers(tables: Iterable[Table]) -> Iterator[tuple[Table, TableRow, Judged]]:
    """Yields every judged number of some tables, with its table and row."""
    for table in tables:
        for row, _, cell in table.cells():
            if cell.judged is not None:
                yield table, row, cell.judged


def reading_order(table: Table) -> tuple[bool, int, str]:
    """Returns the key to sort a paper's tables by: tables before figures, main ones before the appendix."""
    return table.kind == "figure", len(table.key), table.key


def find_cells(table: Table, row: str, column: str) -> list[tuple[TableRow, Cell]]:
    """Returns the cells of a column in every row of this name: its key, its title, or its group and title.

    Errors: InputError with the rows of the table if no name matches or begins with it.
    """
    titles = {
        name.lower(): index for index, shown in enumerate(table.columns) for name in (shown.title, shown.key)
    }
    if column.lower() not in titles:
        known = [shown.key for shown in table.columns]
        raise InputError(
            f"table {table.key} has no column {column!r}, expected one of {', '.join(known)}"
            f"{near_matches(column, known)}"
        )
    rows = rows_named(table, row)
    if not rows:
        known = list(dict.fromkeys(name for line in table.rows for name in row_names(line)))
        near = near_matches(row, known)
        shown = "" if near else f"; `sentbench verify {table.key}` lists its {len(table.rows)} rows"
        raise InputError(f"table {table.key} has no row {row!r}{near}{shown}")
    return [(line, line.cells[titles[column.lower()]]) for line in rows]


def rows_named(table: Table, name: str) -> list[TableRow]:
    """Returns the rows of this name, ignoring case, otherwise rows whose names begin with it."""
    return [table.rows[index] for index in matching(name, [row_names(line) for line in table.rows])]


def matching(name: str, named: Sequence[Sequence[str]]) -> list[int]:
    """Returns the indices of items with this name, otherwise of items with a name that begins with it."""
    wanted = name.lower()
    exact = [
        index
        for index, names in enumerate(named)
        if wanted in {name_of_item.lower() for name_of_item in names}
    ]
    if exact or not wanted.strip():
        return exact
    return [
        index
        for index, names in enumerate(named)
        if any(name_of_item.lower().startswith(wanted) for name_of_item in names)
    ]


def row_names(row: TableRow) -> list[str]:
    """Returns the names of a row: its key, its title, and group and title."""
    return names_of(row.key, row.title, row.group)


def names_of(key: str, title: str, group: str) -> list[str]:
    """Returns the names of a row by its parts; the group is empty if a table has none."""
    return [key, title, *([f"{group} {title}"] if group else [])]
