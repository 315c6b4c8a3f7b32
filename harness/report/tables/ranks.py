"""The ranks that each row may have among the rows that it competes with, by all of its seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.facts.comparisons import rank_intervals
from harness.facts.spec import ColumnSpec, RowSpec, TableSpec
from harness.report.tables.model import TableRow


def rank_rows(
    spec: TableSpec,
    declared: Sequence[RowSpec],
    rows: Sequence[TableRow],
    exact: Callable[[RowSpec, ColumnSpec], bool],
) -> list[TableRow]:
    """Returns the rows with rank intervals in their cells, and of the leading column in their source.

    Rows compete within their group or over the whole table, as the spec says; a lone competitor gets none.
    Published values get none, because a number without its seeds has no rank. exact: whether no seed changes
    the score of a cell. The leading column is the one that orders the table, else the last that is ranked.
    """
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
