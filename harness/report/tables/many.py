"""Many verdicts on one page: false-discovery control of "does not replicate"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    """Returns the tables with false-discovery control over each page, that is over all tables of a paper."""
    pages: dict[str, list[str]] = {}
    for key in tables:
        pages.setdefault(page_of(key), []).append(key)
    found: dict[str, Table] = {}
    for keys in pages.values():
        found |= dict(zip(keys, control_page([tables[key] for key in keys]), strict=True))
    return {key: found[key] for key in tables}


def page_of(key: str) -> str:
    """Returns the page of a table: its paper, or the table itself where it is no paper's."""
    paper, slash, _ = key.partition("/")
    return f"{paper}/" if slash else key


def control_page(tables: Iterable[Table]) -> list[Table]:
    """Returns the tables of one page; a "does not replicate" that is no discovery becomes inconclusive.

    Every distinct number with seeds of ours is one hypothesis: a number that several cells quote counts once.
    """
    some = list(tables)
    p = {_hypothesis(known): known.ours.p for _, _, known in verifications(some) if known.ours is not None}
    taken_back = {key for key, holds in zip(p, surviving(list(p.values())), strict=True) if not holds}
    return [
        replace(
            table,
            rows=tuple(
                replace(row, cells=tuple(_controlled(cell, taken_back) for cell in row.cells))
                for row in table.rows
            ),
        )
        for table in some
    ]


def _hypothesis(known: Verification) -> tuple[object, ...]:
    """Returns what a verdict by our seeds is about: the number, and the runs that judge it."""
    return (*known.reported.fact, known.values)


def _controlled(cell: Cell, taken_back: set[tuple[object, ...]]) -> Cell:
    if cell.evidence is None or cell.verdict not in FAILED or _hypothesis(cell.evidence) not in taken_back:
        return cell
    known = replace(cell.evidence, verdict="inconclusive", among_many=True)
    return replace(cell, verdict="inconclusive", evidence=known)
