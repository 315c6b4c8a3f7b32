"""Best and second best, by the numbers a reader sees, among the rows that compete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.facts.spec import ColumnSpec, RowSpec, TableSpec
from harness.report.tables.model import Rank, TableRow


def rank_rows(spec: TableSpec, declared: Sequence[RowSpec], rows: Sequence[TableRow]) -> list[TableRow]:
    """Returns the rows with ranks in their cells, ours and the published ones each among themselves.

    Rows compete within their group or over the whole table, as the spec says. Cells that print alike share a
    rank; a lone competitor gets none.
    """
    cells = [list(row.cells) for row in rows]
    for index, column in enumerate(spec.columns):
        if spec.compete == "none" or column.better == "none" or column.statistic in ("sd", "pairs"):
            continue
        for members in _competitors(spec, declared):
            ours = _ranks([rows[i].cells[index].value for i in members], column, spec.decimals)
            theirs = _ranks([rows[i].cells[index].published for i in members], column, spec.decimals)
            for member, rank, published_rank in zip(members, ours, theirs, strict=True):
                cells[member][index] = replace(cells[member][index], rank=rank, published_rank=published_rank)
    return [replace(row, cells=tuple(found)) for row, found in zip(rows, cells, strict=True)]


def _competitors(spec: TableSpec, declared: Sequence[RowSpec]) -> list[list[int]]:
    """Returns the indices of the rows that compete with each other, one list a contest."""
    contests: dict[str, list[int]] = {}
    for index, row in enumerate(declared):
        if row.competes:
            contests.setdefault(row.group if spec.compete == "group" else "", []).append(index)
    return list(contests.values())


def _ranks(values: Sequence[float | None], column: ColumnSpec, decimals: int) -> list[Rank]:
    """Returns the rank of each value; None takes no part."""
    printed = [None if value is None else float(f"{value:.{decimals}f}") for value in values]
    known = [value for value in printed if value is not None]
    if len(known) < 2:
        return [""] * len(values)
    order = sorted(set(known), reverse=column.better == "higher")
    names: dict[float, Rank] = dict(zip(order, ("best", "second"), strict=False))
    return ["" if value is None else names.get(value, "") for value in printed]
