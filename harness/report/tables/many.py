"""Many verdicts on one page: false-discovery control of "does not replicate"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.facts.comparisons import surviving
from harness.facts.verdicts import FAILED, LEVEL
from harness.report.tables.model import Cell, Table, verifications
from harness.report.verification import Verification

STATED = (
    f"Of the numbers that do not replicate on a page, {LEVEL:.0%} are expected to be wrong at most "
    "(Benjamini-Hochberg over its distinct numbers)."
)


def control(tables: Mapping[str, Table]) -> dict[str, Table]:
    """Returns the tables with false-discovery control over each page, that is over all tables of a paper.

    A "does not replicate" that is no discovery becomes inconclusive. Every distinct number with seeds of ours
    is one hypothesis: a number that several cells quote counts once.
    """
    pages: dict[str, dict[tuple[object, ...], float]] = {}
    for key, table in tables.items():
        page = pages.setdefault(page_of(key), {})
        for _, _, known in verifications([table]):
            if known.ours is not None:
                page[hypothesis(known)] = known.ours.p
    taken_back = {
        page: {key for key, holds in zip(p, surviving(list(p.values())), strict=True) if not holds}
        for page, p in pages.items()
    }
    return {key: _controlled(table, taken_back[page_of(key)]) for key, table in tables.items()}


def page_of(key: str) -> str:
    """Returns the page of a table: its paper, or the table itself where it is no paper's."""
    paper, slash, _ = key.partition("/")
    return f"{paper}/" if slash else key


def hypothesis(known: Verification) -> tuple[object, ...]:
    """Returns what a verdict by our seeds is about: the number, and the runs that judge it."""
    return (*known.reported.fact, known.values)


def _controlled(table: Table, taken_back: set[tuple[object, ...]]) -> Table:
    def controlled(cell: Cell) -> Cell:
        known = cell.evidence
        if known is None or cell.verdict not in FAILED or hypothesis(known) not in taken_back:
            return cell
        known = replace(known, verdict="inconclusive", among_many=True)
        return replace(cell, verdict="inconclusive", evidence=known)

    return replace(
        table, rows=tuple(replace(row, cells=tuple(map(controlled, row.cells))) for row in table.rows)
    )
