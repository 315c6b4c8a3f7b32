"""The rows of a table: the order of those that come from runs, and the ranks that each may have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.facts.comparisons import rank_intervals
from harness.facts.run_choice import RunChoice
from harness.facts.spec import ColumnSpec, RowSpec, TableSpec
from harness.report.tables.model import TableRow

TRAINED, UNTRAINED, TEACHERS = "Trained", "Without training", "Teachers: an upper bound, not ranked"
GROUPS = (TRAINED, UNTRAINED, TEACHERS)
"""The groups of such a table, in their order."""


def group_of(spec: TableSpec, choice: RunChoice, without: set[tuple[str, str]]) -> str:
    """Returns the group of a system in a table; `without`: those that took no training step."""
    if choice.system in spec.unranked:
        return TEACHERS
    return UNTRAINED if (choice.system, choice.backbone) in without else TRAINED


def order_of(spec: TableSpec, rows: Sequence[TableRow]) -> list[int]:
    """Returns the positions of the rows by group, and within it by the column `order_by`, best first.

    Rows without a value there stand last; equal ones, and all without such a column, keep their order.
    """
    if not spec.order_by:
        return sorted(range(len(rows)), key=lambda index: GROUPS.index(rows[index].group))
    column = [column.key for column in spec.columns].index(spec.order_by)
    sign = -1 if spec.columns[column].better == "higher" else 1

    def key(index: int) -> tuple[int, bool, float]:
        value = rows[index].cells[column].value
        return GROUPS.index(rows[index].group), value is None, 0.0 if value is None else sign * value

    return sorted(range(len(rows)), key=key)


def rank_rows(
    spec: TableSpec,
    declared: Sequence[RowSpec],
    rows: Sequence[TableRow],
    untrained: set[tuple[str, str]],
) -> list[TableRow]:
    """Returns the rows with rank intervals in their cells, and of the leading column in their source.

    Rows compete within their group or over the whole table, as the spec says; a lone competitor gets none.
    Published values get none, because a number without its seeds has no rank. untrained: the systems with
    their backbones whose score no seed changes, like that of a deterministic row. The leading column is the
    one that orders the table, else the last that is ranked.
    """

    def exact(row: RowSpec, column: ColumnSpec) -> bool:
        choice = spec.choice(row, column)
        return row.deterministic or (choice is not None and (choice.system, choice.backbone) in untrained)

    cells = [list(row.cells) for row in rows]
    sources = [row.source for row in rows]
    ranked = [
        index
        for index, column in enumerate(spec.columns)
        if spec.compete != "none" and column.better != "none" and column.recipe is None
    ]
    keys = [column.key for column in spec.columns]
    leading = keys.index(spec.order_by) if spec.order_by else ranked[-1] if ranked else None
    for index in ranked:
        column = spec.columns[index]
        for members in _competitors(spec, declared):
            some = [
                i for i in members if cells[i][index].values and spec.statistic(declared[i], column) == "mean"
            ]
            if len(some) < 2:
                continue
            found = rank_intervals(
                [cells[i][index].values for i in some],
                [exact(declared[i], column) for i in some],
                lower_is_better=column.better == "lower",
            )
            for member, ranks in zip(some, found, strict=True):
                cells[member][index] = replace(cells[member][index], ranks=ranks)
                if index == leading and ranks is not None:
                    words = f"rank {span_words(ranks)} of {len(some)} by {column.title or column.key}"
                    sources[member] = ", ".join(filter(None, [sources[member], words]))
    return [
        replace(row, cells=tuple(found), source=source)
        for row, found, source in zip(rows, cells, sources, strict=True)
    ]


def span_words(ranks: tuple[int, int]) -> str:
    """Returns ranks as `2` or `1 to 3`."""
    low, high = ranks
    return str(low) if low == high else f"{low} to {high}"


def _competitors(spec: TableSpec, declared: Sequence[RowSpec]) -> list[list[int]]:
    """Returns the indices of the rows that compete with each other, one list a contest."""
    contests: dict[str, list[int]] = {}
    for index, row in enumerate(declared):
        if row.competes:
            contests.setdefault(row.group if spec.compete == "group" else "", []).append(index)
    return list(contests.values())
