"""A cell in words: what it prints, and what hover, focus, tap and the run dialog say about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from harness.report.formats.text import MEANINGS, format_number, more_seeds
from harness.report.runs import RunDetail
from harness.report.tables.model import Cell, Column, Table, TableRow, Verdict

GLYPHS: dict[Verdict, str] = {"agrees": "=", "near": "≈", "differs": "≠", "not separable": "?"}

Facts = list[tuple[str, str]]
"""Pairs of a label and what is to be said under it."""


@dataclass(frozen=True)
class ShownCell:
    """What the template prints of a cell. `order` is the number a sorted column goes by; None sorts last."""

    title: str
    ours: str
    sd: str
    published: str
    glyph: str
    word: str
    delta: str
    style: str
    order: float | None
    link: str
    facts: Facts


def show_cell(
    table: Table, row: TableRow, column: Column, cell: Cell, runs: Mapping[str, RunDetail]
) -> ShownCell:
    """Returns the printed form of a cell; the link is empty if no run of it is on record."""
    recorded = [runs[key] for key in cell.runs if key in runs]
    ours = "" if cell.value is None else _number(cell.value, column, table)
    return ShownCell(
        title=" · ".join(filter(None, [row.group, row.title, column.title])),
        ours=ours or ("" if cell.verdict == "cited" else "–"),
        sd="" if cell.sd is None else f"±{cell.sd:.{table.decimals}f}",
        published="" if cell.published is None else _number(cell.published, column, table),
        glyph=GLYPHS.get(cell.verdict, ""),
        word="" if cell.verdict == "ours" else cell.verdict,
        delta="" if cell.delta is None else signed(cell.delta, 0 if column.plain else table.decimals),
        style=cell.verdict.replace(" ", "-"),
        order=cell.published if cell.value is None else cell.value,
        link=f"#{recorded[0].anchor}" if recorded else "",
        facts=cell_facts(table, column, cell, runs),
    )


def cell_facts(table: Table, column: Column, cell: Cell, runs: Mapping[str, RunDetail]) -> Facts:
    """Returns everything known about a cell, the most wanted first; an empty cell has one fact."""
    facts = [
        ("Ours", _ours(cell, column, table)),
        ("Published", "" if cell.published is None else _number(cell.published, column, table)),
        ("Difference", "" if cell.delta is None else signed(cell.delta, table.decimals)),
        ("Verdict", _verdict(cell)),
        ("Place", _place(cell)),
        ("Each seed", _seed_values(cell, column, table, runs)),
        ("Best on dev", "" if cell.best_by_dev is None else _number(cell.best_by_dev, column, table)),
        ("Column", column.mark),
        ("Note", cell.note),
    ]
    return [(label, text) for label, text in facts if text]


def verdict_counts(*tables: Table) -> list[tuple[Verdict, str, int]]:
    """Returns (verdict, glyph, cells) in the order of the legend, those without cells left out."""
    found = Counter(
        cell.verdict
        for table in tables
        for row in table.rows
        for cell in row.cells
        if cell.published is not None
    )
    shown: list[Verdict] = [*GLYPHS, "missing", "cited"]
    marks = {**GLYPHS, "missing": "–"}
    return [(verdict, marks.get(verdict, ""), found[verdict]) for verdict in shown if found[verdict]]


def has_published(table: Table) -> bool:
    """Whether any cell stands beside a published value, so that cells print a second line."""
    return any(cell.published is not None for row in table.rows for cell in row.cells)


def has_sd(table: Table) -> bool:
    """Whether any cell prints a standard deviation."""
    return any(cell.sd is not None for row in table.rows for cell in row.cells)


def _number(value: float, column: Column, table: Table) -> str:
    return format_number(value, column, table.decimals).replace("-", "−")


def signed(value: float, decimals: int) -> str:
    """Returns a difference with its sign, a true minus for negative ones."""
    return f"{value:+.{decimals}f}".replace("-", "−")


def _ours(cell: Cell, column: Column, table: Table) -> str:
    if cell.value is None:
        return "not run"
    seeds = f"n = {cell.n} seed{'s' if cell.n != 1 else ''}"
    spread = "" if cell.sd is None else f" ± {cell.sd:.{table.decimals}f}"
    return f"{_number(cell.value, column, table)}{spread}, {seeds}"


def _verdict(cell: Cell) -> str:
    if cell.published is None:
        return ""
    more = more_seeds(cell)
    if cell.verdict == "not separable":
        return f"not separable: needs {more} more seeds" if more else "not separable with these seeds"
    if cell.verdict == "missing":
        return "missing: no run of ours fills this cell"
    return MEANINGS.get(cell.verdict, "").strip()


def _place(cell: Cell) -> str:
    if cell.place is None or not cell.n:
        return ""
    return f"published value above {round(cell.place * cell.n)} of our {cell.n} seeds"


def _seed_values(cell: Cell, column: Column, table: Table, runs: Mapping[str, RunDetail]) -> str:
    """Each run's value after its seed; the seeds alone if the cell carries no values."""
    names = [str(runs[key].seed) if key in runs else key for key in cell.runs]
    if not cell.values:
        return ", ".join(names)
    pairs = zip(names, cell.values, strict=True)
    return ", ".join(f"{name}: {_number(value, column, table)}" for name, value in pairs)
