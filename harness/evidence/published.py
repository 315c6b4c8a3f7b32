"""The published numbers of all papers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import InputError, near_matches
from harness.evidence.numbers import Misprint, PublishedNumber
from harness.evidence.printed import PublishedPaper, PublishedRow, PublishedTable
from harness.evidence.studies import COLUMNS
from harness.io.declarations import read_declaration
from harness.paths import PUBLISHED, declarations_of, declared

NOT_SCORES = ("none", "pairs")
"""Metrics of tables of settings and counts, whose values have no scale."""
SEVEN = 7
"""Test sets in the `Avg` of a study; an average of others is another quantity."""
Place = tuple[str, str, str]
"""Table, row and column of a published number."""


@dataclass(frozen=True)
class Published:
    """The published numbers of all papers, by place, and the declarations they are from.

    tables: by `paper/table`.
    """

    papers: dict[str, PublishedPaper]
    tables: dict[str, PublishedTable]
    numbers: dict[Place, PublishedNumber]

    def table(self, key: str) -> PublishedTable:
        """Returns one table; an unknown key is an error with near matches."""
        return self.tables[known_name(key, self.tables, "published table")]

    def row(self, table: str, key: str) -> PublishedRow:
        """Returns one row of one table; an unknown key is an error with near matches."""
        rows = self.table(table).rows
        for row in rows:
            if row.key == key:
                return row
        raise unknown_name(key, [row.key for row in rows], f"published row of {table}")

    def number(self, table: str, row: str, column: str) -> PublishedNumber | None:
        """Returns the number of a place, None for an empty cell. Errors: InputError for an unknown table or
        row."""
        self.row(table, row)
        return self.numbers.get((table, row, column))


def source_of(paper: PublishedPaper, table: str, row: PublishedRow) -> str:
    """Returns the description of the paper that reports a row of a table, or of the quoted work."""
    if row.work is not None:
        return f"{paper.works[row.work]}, quoted in {table}"
    return ", ".join(filter(None, [table, paper.title, paper.venue, paper.link]))


def known_name(name: str, known: Iterable[str], kind: str) -> str:
    """Returns `name` if it is known; otherwise InputError with near matches."""
    names = list(known)
    if name not in names:
        raise unknown_name(name, names, kind)
    return name


def unknown_name(name: str, known: Iterable[str], kind: str) -> InputError:
    """Returns the error that `name` is not known, with near matches."""
    names = sorted(known)
    return InputError(
        f"unknown {kind} {name!r}, expected one of {len(names)} known{near_matches(name, names)}"
    )


def load_published(folder: Path = PUBLISHED) -> Published:
    """Returns the published numbers of a folder, one file per paper."""
    papers: dict[str, PublishedPaper] = {}
    for path in declarations_of(declared(folder)):
        paper = read_declaration(path, PublishedPaper)
        papers[paper.paper] = paper
    tables = {f"{name}/{key}": table for name, paper in papers.items() for key, table in paper.tables.items()}
    numbers = {
        (number.table, number.row, number.column): number
        for key, table in tables.items()
        for number in numbers_of(
            table, key, {row.key: source_of(papers[key.partition("/")[0]], key, row) for row in table.rows}
        )
    }
    return Published(papers, tables, numbers)


def numbers_of(table: PublishedTable, key: str, sources: Mapping[str, str]) -> Iterator[PublishedNumber]:
    """Yields the numbers of a table row by row. key: of the table; sources: of each row, in words."""
    points = 1.0 if table.metric in NOT_SCORES else 100 / table.scale

    def in_points(value: float) -> float:
        return round(value * points, 10)

    for row in table.rows:
        decimals = table.decimals_of(row)
        for column in table.columns:
            value = table.compared(row, column)
            if value is None:
                continue
            averaged = tuple(table.averages.get(column, ()))
            yield PublishedNumber(
                table=key,
                row=row.key,
                column=column,
                value=in_points(value),
                rounding=0.5 * 10.0**-decimals * points,
                seeds=row.seeds,
                picked=row.picked,
                origin=row.source,
                work=row.work,
                source=sources[row.key],
                metric=table.metric,
                quantity=_quantity(table.metric, len(averaged)),
                averaged=averaged,
                measurable=_is_measurable(table.metric, column, len(averaged)),
                misprints=tuple(
                    Misprint(each.kind, in_points(each.reported), in_points(each.recomputed), each.reason)
                    for each in row.errata
                    if each.column == column
                ),
            )


def _is_measurable(metric: str, column: str, parts: int) -> bool:
    known = column in COLUMNS and metric in (COLUMNS[column], "mixed")
    return known and (column != "Avg" or parts in (0, SEVEN))


def _quantity(metric: str, parts: int) -> str:
    """Returns a quantity in words, such as `spearman, mean of 7`; other averages are different."""
    words = ["" if metric == "mixed" else metric, f"mean of {parts}" if parts else ""]
    return ", ".join(filter(None, words))
