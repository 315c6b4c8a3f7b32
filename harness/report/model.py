"""The values a report is made of; templates read these and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["agrees", "near", "differs", "not separable", "missing", "cited"]
"""How our distribution stands to the published value (harness/report/statistics.py decides)."""


@dataclass(frozen=True)
class Cell:
    """One cell of a table. `value`, `sd`, `published` and `delta` are in the table's display scale.

    value: mean over our seeds, None if nothing was run; sd: sample standard deviation, None below two seeds.
    place: share of our seeds below the published value, in [0, 1]; None without both.
    seeds_needed: seeds that a difference of this size needs at 80 % power; None where it does not apply.
    note: what a reader must know about this cell alone (partial test set, printed average that does not fit).
    """

    value: float | None = None
    sd: float | None = None
    n: int = 0
    published: float | None = None
    delta: float | None = None
    verdict: Verdict = "missing"
    place: float | None = None
    seeds_needed: int | None = None
    runs: tuple[str, ...] = ()
    rank: Literal["best", "second", ""] = ""
    note: str = ""


@dataclass(frozen=True)
class Column:
    """A column: its key in the spec, its printed name, and a mark such as `partial` or `small-scale`."""

    key: str
    title: str
    mark: str = ""


@dataclass(frozen=True)
class TableRow:
    """A row: a system or variant, whose cells stand in the order of the table's columns."""

    key: str
    title: str
    cells: tuple[Cell, ...]
    group: str = ""
    source: str = ""
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A rendered table's content. `protocol` names pooling, text form, test-set sizes and selection rule."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    protocol: str = ""
    scale: float = 100.0
    decimals: int = 2
    notes: tuple[str, ...] = field(default=())
