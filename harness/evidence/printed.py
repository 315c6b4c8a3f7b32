"""The declarations of published numbers, one file for each paper, as the papers print them."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Literal

from pydantic import Field, model_validator

from harness.evidence.numbers import RowSource
from harness.io.declarations import DeclaredModel, Link

AVERAGE_APART = 2
"""Allowed difference of a reported average from its cells' mean, in units of the table's last digit."""


NOT_STATED = re.compile(r"(seeds?|runs?)( and choice)? (is |are )?not stated")
"""Pattern of notes about numbers of runs that a paper does not state."""

STATED_IN_NOTES = {
    "seeds": re.compile(r"\bmean of (\d+) (?:seeds|runs)"),
    "picked": re.compile(r"\bbest of (\d+)"),
}
"""Patterns of notes about stated numbers of runs, by field."""

MANY_VALUES = 5
"""Number of values of a row that do not all end in 0 by chance, so fewer decimals were printed."""


class Erratum(DeclaredModel):
    """A reported number that contradicts the rest of its row.

    kind: `cell` if the right value is known; we compare with it. `average` if the reported average is not the
    mean of the reported cells and it is unknown which is wrong; we compare with the reported average.
    """

    column: str
    kind: Literal["cell", "average"]
    reported: float
    recomputed: float
    reason: str


class PublishedRow(DeclaredModel):
    """One reported row. `seeds` is the number of seeds of each value, None if not stated.

    picked: number of runs that a value was chosen from on the development set, None if not stated.
    decimals: printed decimals, if fewer than the table's.
    source: `this-paper` for the paper's own system, `re-run` for another system run by these authors, `cited`
    for numbers from `work` (a key of the paper's `works`).
    """

    system: str
    variant: str | None = None
    backbone: str | None = None
    source: RowSource
    work: str | None = None
    seeds: int | None = Field(default=None, ge=1)
    picked: int | None = Field(default=None, ge=1)
    decimals: int | None = Field(default=None, ge=0)
    seed_values: list[int] = Field(default_factory=list)
    values: list[float | None]
    errata: list[Erratum] = Field(default_factory=list)
    note: str = ""

    @property
    def key(self) -> str:
        """`system/variant@backbone`, without the parts that do not apply."""
        variant = f"/{self.variant}" if self.variant else ""
        backbone = f"@{self.backbone}" if self.backbone else ""
        return f"{self.system}{variant}{backbone}"


class PublishedTable(DeclaredModel):
    """One table or figure. Reported value = raw value x `scale`; `averages` names the columns that are means.

    origin: `paper`, or another publication of the authors.
    """

    about: str
    metric: str
    scale: float = Field(gt=0)
    decimals: int = Field(ge=0)
    columns: list[str]
    averages: dict[str, list[str]] = Field(default_factory=dict)
    origin: Literal["paper", "figure", "readme", "log", "notebook", "code", "other-paper"] = "paper"
    rows: list[PublishedRow]
    note: str = ""

    @model_validator(mode="after")
    def check(self) -> PublishedTable:
        """Checks that rows fit the columns, row keys differ, and every wrong average is declared."""
        keys = [row.key for row in self.rows]
        for row in self.rows:
            if len(row.values) != len(self.columns):
                raise ValueError(f"{row.key} has {len(row.values)} values, expected {len(self.columns)}")
            if keys.count(row.key) > 1:
                raise ValueError(f"row {row.key} appears twice")
            if (row.source == "cited") != (row.work is not None):
                raise ValueError(f"{row.key}: expected `work` for a cited row and only there")
            _check_note(row)
            self._check_decimals(row)
            self._check_errata(row)
        return self

    def _check_decimals(self, row: PublishedRow) -> None:
        values = [value for value in row.values if value is not None]
        most = max(map(decimals_in, values), default=0)
        printed = self.decimals_of(row)
        if row.decimals is not None and row.decimals >= self.decimals:
            raise ValueError(f"{row.key}: decimals {row.decimals}, expected fewer than the table's")
        if most > printed:
            raise ValueError(f"{row.key}: a value has {most} decimals, expected at most {printed}")
        if self.metric != "none" and len(values) >= MANY_VALUES and most < printed:
            raise ValueError(
                f"{row.key}: no value has more than {most} decimals, expected `decimals: {most}`"
            )

    def _check_errata(self, row: PublishedRow) -> None:
        for erratum in row.errata:
            if erratum.column not in self.columns or self._cell(row, erratum.column) != erratum.reported:
                raise ValueError(f"{row.key}: erratum of {erratum.column} does not name a reported value")
        declared = {erratum.column for erratum in row.errata if erratum.kind == "average"}
        # a row with fewer decimals than its table: as far as its own rounding goes
        apart = max(AVERAGE_APART * 10.0**-self.decimals, 0.5 * 10.0 ** -self.decimals_of(row))
        for column, parts in self.averages.items():
            reported, cells = self._cell(row, column), [self.compared(row, part) for part in parts]
            known = [cell for cell in cells if cell is not None]
            if reported is None or len(known) != len(cells):
                continue
            expected = math.fsum(known) / len(known)
            if (abs(reported - expected) > apart + 1e-9) != (column in declared):
                remedy = (
                    "remove its erratum" if column in declared else "if so printed, declare it in `errata`"
                )
                problem = f"{column} is reported as {reported}, its cells average {expected:.4f}"
                raise ValueError(f"{row.key}: {problem}; {remedy}")

    def decimals_of(self, row: PublishedRow) -> int:
        """Returns the printed decimals of a row: its own, or the table's."""
        return self.decimals if row.decimals is None else row.decimals

    def _cell(self, row: PublishedRow, column: str) -> float | None:
        return row.values[self.columns.index(column)]

    def compared(self, row: PublishedRow, column: str) -> float | None:
        """Returns the value to compare with: reported, or corrected for a misprinted cell."""
        for erratum in row.errata:
            if erratum.column == column and erratum.kind == "cell":
                return erratum.recomputed
        return self._cell(row, column)


def _check_note(row: PublishedRow) -> None:
    """Checks that a row's fields agree with its note about runs."""
    if row.seeds is not None and NOT_STATED.search(row.note):
        raise ValueError(f"{row.key}: seeds {row.seeds}, but its note says that they are not stated")
    for field, pattern in STATED_IN_NOTES.items():
        match, stated = pattern.search(row.note), getattr(row, field)
        if match and int(match[1]) != stated:
            raise ValueError(f"{row.key}: {field} {stated}, but its note says {match[0]!r}")


def decimals_in(value: float) -> int:
    """Returns the fewest decimals that express a value: one for 69.1 and 69.10."""
    return max(0, -int(Decimal(repr(value)).normalize().as_tuple().exponent))


class Statement(DeclaredModel):
    """A number from the running text."""

    key: str
    value: float
    unit: str
    backbone: str | None = None
    where: str = ""
    note: str = ""


class PublishedPaper(DeclaredModel):
    """All numbers of one paper; `short` is the name of its method. `works` resolves cited works.

    link: address of the paper; code: the authors' repository.
    """

    paper: str
    title: str
    short: str = ""
    venue: str
    authors: list[str] = Field(default_factory=list)
    year: int | None = None
    link: Link | Literal[""] = ""
    code: Link | Literal[""] = ""
    works: dict[str, str] = Field(default_factory=dict)
    backbones: dict[str, str] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    tables: dict[str, PublishedTable]
    statements: list[Statement] = Field(default_factory=list)

    @model_validator(mode="after")
    def check(self) -> PublishedPaper:
        """Checks that every cited work is listed."""
        for name, table in self.tables.items():
            for row in table.rows:
                if row.work is not None and row.work not in self.works:
                    raise ValueError(f"{name}: {row.key} cites {row.work!r}, which is not in works")
        return self
