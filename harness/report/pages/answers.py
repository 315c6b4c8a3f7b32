"""Numbers in question: the evidence on each, and the cost of a test."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from pydantic import Field

from harness.evidence import statistics
from harness.evidence.cite import citation_of
from harness.evidence.judged import Judged
from harness.evidence.settling import counted
from harness.io.declarations import DeclaredModel, read_declaration
from harness.report.pages.cells import POINTS
from harness.report.pages.content import RUNS, Report
from harness.report.pages.sources import EVIDENCE, anchor_of
from harness.report.runs import slug
from harness.report.sentences import open_words, place_words
from harness.report.tables.model import Cell, Table, find_cells, judged_numbers

ENOUGH = 5
"""Fewest runs with a spread."""


class Number(DeclaredModel):
    """One number in question: a cell. page: the paper whose page also shows it. against: the row of its table
    over which its paper claims a gain. control: a number that must replicate and is counted separately.
    """

    name: str
    table: str
    row: str
    column: str
    page: str = ""
    against: str = ""
    control: bool = False


class _Numbers(DeclaredModel):
    numbers: list[Number] = Field(min_length=1)


@dataclass(frozen=True)
class Gain:
    """The gain that a paper claims. over: the name of the other system. points: the number minus the other
    system's in the same table. runs: single runs of the other system, by others or otherwise by the authors
    of its number, in points. rerun: the other system's number, if it is the paper's own run and another table
    quotes a different number of the same system.
    """

    over: str
    points: float
    runs: tuple[float, ...]
    rerun: float | None = None

    @property
    def spread(self) -> tuple[float, float] | None:
        """The middle 90 % of the runs, in points; None below `ENOUGH` of them."""
        if len(self.runs) < ENOUGH:
            return None
        cuts = quantiles(self.runs, n=20, method="inclusive")
        return cuts[0], cuts[-1]


@dataclass(frozen=True)
class Answer:
    """The evidence on one number. link, evidence: addresses of its table, which states the protocol, and
    of the independent results, relative to the main page; the latter is empty without such results. known,
    cost: the evidence and the cost of a test, in words. gain: the claimed gain, if it is declared. printed:
    the value as its table prints it, if that is on another scale.
    """

    judged: Judged
    name: str
    link: str
    evidence: str
    known: str
    cost: str
    control: bool = False
    gain: Gain | None = None
    printed: str = ""

    @property
    def open(self) -> str:
        """Why the number is not settled; empty for other numbers."""
        return open_words(self.judged)

    @property
    def cite(self) -> str:
        """What to cite instead of the reported value; empty if that is cited."""
        cited = citation_of(self.judged)
        return "" if cited.kind == "reported" else cited.text

    @property
    def reported(self) -> str:
        """The reported value in points."""
        return f"{self.judged.number.value:.2f}"

    @property
    def anchor(self) -> str:
        """The id of its row."""
        return f"answer-{slug(self.name)}"


def load_numbers(folder: Path) -> list[Number]:
    """Returns the declared numbers. Errors: InputError if the file is missing or wrong."""
    return read_declaration(folder / "answers.yaml", _Numbers).numbers


def answers_of(report: Report, page: str = "") -> list[Answer]:
    """Returns the answers for the main page in their declared order, or the answers of one paper's page,
    its own numbers first. Numbers whose table is not in the report are skipped. Errors: InputError for an
    unknown row or column.
    """
    tables = report.all_tables
    of_paper: list[Answer] = []
    of_others: list[Answer] = []
    for number in load_numbers(report.leaderboards):
        if number.table not in tables or (page and number.page != page):
            continue
        table = tables[number.table]
        ((row, cell),) = find_cells(table, number.row, number.column)
        known = cell.judged
        if known is not None:
            link = address_of(report, table)
            studied = any(pool.studies for pool in known.others.pools.values())
            evidence = f"{EVIDENCE}#{anchor_of(known.number.row)}" if studied else ""
            words = known_words(known), _cost(known, cell)
            selected = of_paper if page and row.is_own else of_others
            gain = _gain(tables, number, known) if number.against else None
            form = table.scores
            printed = "" if form.scale == POINTS.scale else form.show(known.number.value)
            selected.append(Answer(known, number.name, link, evidence, *words, number.control, gain, printed))
    return [*of_paper, *of_others]


def _gain(tables: Mapping[str, Table], number: Number, known: Judged) -> Gain | None:
    ((row, cell),) = find_cells(tables[number.table], number.against, number.column)
    if cell.judged is None:
        return None
    others, compared = cell.judged.others, cell.judged.number
    runs = others.independent.values or others.pools["same authors"].values
    quoted = [
        judged.number.value
        for _, _, judged in judged_numbers(tables.values())
        if (judged.number.row, judged.number.column) == (compared.row, compared.column)
        and judged.number.quantity == compared.quantity
        and judged.number.origin != "re-run"
    ]
    differs = compared.origin == "re-run" and any(value != compared.value for value in quoted)
    points = known.number.value - compared.value
    return Gain(row.title, points, runs, compared.value if differs else None)


def address_of(report: Report, table: Table) -> str:
    """Returns the address of a table, relative to the main page."""
    pages = {paper.file: paper.tables for paper in report.papers}
    pages |= {RUNS: report.tables, "pages/own.html": report.own_tables}
    file = next((name for name, tables in pages.items() if table in tables), "")
    return f"{file}#table-{slug(table.key)}"


def _cost(judged: Judged, cell: Cell) -> str:
    plan = judged.plan
    if cell.no_verdict:
        return f"our runs cannot test it: {cell.no_verdict}"
    if plan is None:
        return "answered by our runs" if cell.wanted else "no recipe here runs it"
    if plan.seeds is None:
        return plan.why
    return "; ".join(filter(None, [f"to test it: {plan.cost}", plan.why]))


def known_words(judged: Judged) -> str:
    """Returns the evidence on a number in one line: our seeds, independent runs, or a note."""
    others, parts = judged.others.independent, []
    if judged.values:
        parts.append(f"ours {statistics.mean(judged.values):.2f} ({counted(len(judged.values), 'run')})")
    if others.median is not None:
        rivals = f", {len(others.competitors)} by authors of a competing method" if others.competitors else ""
        sources = counted(len(others.sources), "independent source")
        parts.append(f"median {others.median:.2f} of {sources}{rivals}")
    if judged.percentile is not None and judged.percentile.runs > 1:
        parts.append(place_words(judged.percentile).replace(" %", "\N{NO-BREAK SPACE}%"))
    median = judged.others.pools["same authors"].median
    if median is not None and not parts:
        parts.append(f"its authors again: {median:.2f}")
    if not parts:
        parts.append("no run by others found" if judged.others.searched else "only the reported number")
    return "; ".join(parts)
