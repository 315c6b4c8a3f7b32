"""Published numbers, each made once from its declaration, in points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from harness.evidence.number_tests import Origin, origin_of
from harness.evidence.studies import COLUMNS

if TYPE_CHECKING:
    from harness.evidence.published import PublishedTable

NOT_SCORES = ("none", "pairs")
"""Metrics of tables of settings and counts, whose values have no scale."""
SEVEN = 7
"""Test sets in the `Avg` of a study; an average of others is another quantity."""

RowSource = Literal["this-paper", "re-run", "cited"]
"""Source of a row: the paper's own system, another system run by its authors, or a quoted work."""


@dataclass(frozen=True)
class Misprint:
    """A reported number that contradicts the rest of its row, in points; kind as of a declared erratum."""

    kind: Literal["cell", "average"]
    reported: float
    recomputed: float
    reason: str


@dataclass(frozen=True)
class PublishedNumber:
    """One published number in points; a setting or a count as printed.

    table: `paper/table`; row: `system/variant@backbone`. value: as printed, or corrected for a misprinted
    cell. rounding: half a printed digit. seeds: number of averaged runs, picked: number of runs it was chosen
    from, None if not stated. origin: as of its row; work: key of the quoted work. source: the paper, or the
    quoted work, in words. quantity: the metric, and of a mean the number of its parts, in words. measurable:
    whether a study can have measured the same quantity. False for another metric, or if `Avg` is not the mean
    of the seven sets.
    """

    table: str
    row: str
    column: str
    value: float
    rounding: float
    seeds: int | None = None
    picked: int | None = None
    origin: RowSource = "this-paper"
    work: str | None = None
    source: str = ""
    metric: str = ""
    quantity: str = ""
    measurable: bool = True
    misprints: tuple[Misprint, ...] = ()

    @property
    def paper(self) -> str:
        """The key of the paper that prints it."""
        return self.table.partition("/")[0]

    @property
    def backbone(self) -> str:
        """The backbone of its row, empty if it has none."""
        return self.row.partition("@")[2]

    @property
    def printed(self) -> float:
        """The value as printed, in points."""
        misprinted = [misprint.reported for misprint in self.misprints if misprint.kind == "cell"]
        return misprinted[0] if misprinted else self.value

    @property
    def drawn(self) -> Origin:
        """Numbers among which it is plausible, for the prediction interval."""
        return origin_of(self.seeds, self.picked)


def numbers_of(table: PublishedTable, key: str, sources: Mapping[str, str]) -> Iterator[PublishedNumber]:
    """Yields the numbers of a table row by row. key: of the table; sources: of each row, in words."""
    points = 1.0 if table.metric in NOT_SCORES else 100 / table.scale

    def in_points(value: float) -> float:
        return round(value * points, 10)

    for row in table.rows:
        decimals = table.decimals if row.decimals is None else row.decimals
        for column in table.columns:
            value = table.compared(row, column)
            if value is None:
                continue
            parts = len(table.averages.get(column, ()))
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
                quantity=_quantity(table.metric, parts),
                measurable=_is_measurable(table.metric, column, parts),
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
