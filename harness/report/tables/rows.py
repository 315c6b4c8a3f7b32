"""Decisions over many cells: the order of rows, their possible ranks, and control of a page's verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.evidence.comparisons import rank_intervals, surviving
from harness.evidence.judged import Judged
from harness.evidence.number_tests import LEVEL
from harness.evidence.spec import ColumnSpec, RowSpec, TableSpec
from harness.report.tables.model import Cell, Table, TableRow, judged_numbers

TRAINED, UNTRAINED, TEACHERS = "Trained", "Without training", "Teachers: an upper bound, not ranked"
GROUPS = (TRAINED, UNTRAINED, TEACHERS)
"""The groups of a table of runs, in their order."""
STATED = (
    f"Of the numbers that do not replicate on a page, {LEVEL:.0%} are expected to be wrong at most "
    "(Benjamini-Hochberg over its distinct numbers)."
)


def order_of(spec: TableSpec, rows: Sequence[TableRow]) -> list[int]:
    """Returns the positions of the rows by group, and within it by the column `order_by`, best first.

    Rows without a value are last; equal rows, and all rows without such a column, keep their order.
    """
    column = next(
        (index for index, column_spec in enumerate(spec.columns) if column_spec.key == spec.order_by), None
    )

    def key(index: int) -> tuple[int, bool, float]:
        group = GROUPS.index(rows[index].group)
        value = None if column is None else rows[index].cells[column].value
        if column is None or value is None:
            return group, True, 0.0
        return group, False, -value if spec.columns[column].better == "higher" else value

    return sorted(range(len(rows)), key=key)


def rank_rows(
    spec: TableSpec, declared: Sequence[RowSpec], rows: Sequence[TableRow], untrained: set[tuple[str, str]]
) -> list[TableRow]:
    """Returns the rows with rank intervals in their cells, and of the leading column in their source.

    Rows compete within their group or over the whole table, by the spec; a single competitor gets no ranks.
    Published values get none, because a number without seeds has no rank. untrained: the systems with their
    backbones with seed-independent scores, like a deterministic row. The leading column is the column that
    orders the table, otherwise the last ranked one.
    """

    def exact(row: RowSpec, column: ColumnSpec) -> bool:
        choice = spec.choice(row, column)
        return row.deterministic or (choice is not None and (choice.system, choice.backbone) in untrained)

    contests: dict[str, list[int]] = {}
    for index, row in enumerate(declared):
        if row.competes:
            contests.setdefault(row.group if spec.compete == "group" else "", []).append(index)
    cells = [list(row.cells) for row in rows]
    sources = [row.source for row in rows]
    ranked = [
        (index, column)
        for index, column in enumerate(spec.columns)
        if spec.compete != "none" and column.better != "none" and column.recipe is None
    ]
    leading = spec.order_by or (ranked[-1][1].key if ranked else "")
    for index, column in ranked:
        for members in contests.values():
            competing = [
                i for i in members if cells[i][index].values and spec.statistic(declared[i], column) == "mean"
            ]
            if len(competing) < 2:
                continue
            intervals = rank_intervals(
                [cells[i][index].values for i in competing],
                [exact(declared[i], column) for i in competing],
                lower_is_better=column.better == "lower",
            )
            for member, ranks in zip(competing, intervals, strict=True):
                cells[member][index] = replace(cells[member][index], ranks=ranks)
                if column.key == leading:
                    words = f"rank {span_words(ranks)} of {len(competing)} by {column.title or column.key}"
                    sources[member] = ", ".join(filter(None, [sources[member], words]))
    return [
        replace(row, cells=tuple(intervals), source=source)
        for row, intervals, source in zip(rows, cells, sources, strict=True)
    ]


def span_words(ranks: tuple[int, int]) -> str:
    """Returns ranks as `2` or `1 to 3`."""
    low, high = ranks
    return str(low) if low == high else f"{low} to {high}"


def control(tables: Mapping[str, Table]) -> dict[str, Table]:
    """Returns the tables with false-discovery control over each page, that is over all tables of a paper.
    A verdict whose answers are both off, by our seeds or by independent runs, and that is not a discovery
    keeps only its level. Every distinct number judged by our seeds, or by three or more sources, is one
    hypothesis: a number in several cells counts once.
    """
    pages: dict[str, dict[tuple[object, ...], float]] = {}
    for key, table in tables.items():
        page = pages.setdefault(page_of(key), {})
        for _, _, judged in judged_numbers([table]):
            if judged.ours is not None or judged.by_others.interval is not None:
                page[hypothesis(judged)] = judged.answer.p
    withdrawn = {
        page: {key for key, holds in zip(p, surviving(list(p.values())), strict=True) if not holds}
        for page, p in pages.items()
    }
    return {key: _controlled(table, withdrawn[page_of(key)]) for key, table in tables.items()}


def page_of(key: str) -> str:
    """Returns the page of a table: its paper, or the table itself without a paper."""
    paper, slash, _ = key.partition("/")
    return f"{paper}/" if slash else key


def hypothesis(judged: Judged) -> tuple[object, ...]:
    """Returns the key of a verdict: the number, and our runs that judge it, if any."""
    return (*judged.fact, judged.values)


def _controlled(table: Table, withdrawn: set[tuple[object, ...]]) -> Table:
    def controlled(cell: Cell) -> Cell:
        judged = cell.judged
        if judged is None or not judged.verdict.fails or hypothesis(judged) not in withdrawn:
            return cell
        return replace(cell, judged=replace(judged, among_many=True))

    return replace(
        table, rows=tuple(replace(row, cells=tuple(map(controlled, row.cells))) for row in table.rows)
    )
