"""The claims ledger: what a paper says of two systems, and what our seeds say of it.

A claim names a table and two of its rows, so the effect that was printed comes from the published numbers and
the runs that test it are those of the table's cells: nothing is typed twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from harness.declarations import Declaration, list_declarations, read_declaration
from harness.errors import InputError, near_matches
from harness.report import statistics
from harness.report.pages.anchors import cell_anchor
from harness.report.pages.content import Report
from harness.report.pages.declared import MAIN, Page
from harness.report.statistics import Comparison
from harness.report.tables.leaderboard import SMALL
from harness.report.tables.model import Cell, Table, TableRow

Finding = Literal["supported", "not settled", "contradicted", "untested"]


class Pair(Declaration):
    """Two rows of the small leaderboard, of which the claim says that one is above the other."""

    better: str
    worse: str


class Claim(Declaration):
    """One claim: in `column` of `table`, the row `better` is above the row `worse`.

    small: the rows of the small leaderboard that compare the same two methods there.
    """

    says: str
    table: str
    column: str
    better: str
    worse: str
    small: Pair | None = None
    note: str = ""


class PaperClaims(Declaration):
    """The claims of one paper; `paper` is its key in the published numbers."""

    paper: str
    claims: list[Claim] = Field(min_length=1)


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its evidence, in the table's display scale.

    printed: the published difference, None if a value was not printed. ours: our difference with its 95 %
    interval, None if a side was not run or its spread is unknown. more: seeds to add to the side that has
    fewer so that a difference of the printed size would show with 80 % power; None where it does not apply.
    links: the ids of the cells of the better and the worse row.
    """

    claim: Claim
    better: TableRow
    worse: TableRow
    printed: float | None
    ours: Comparison | None
    seeds: tuple[int, int]
    finding: Finding
    more: int | None
    decimals: int
    links: tuple[str, str] = ("", "")


def load_claims(folder: Path) -> dict[str, PaperClaims]:
    """Returns the declared claims by paper. Errors: InputError if a file is wrong or a paper comes twice."""
    found: dict[str, PaperClaims] = {}
    for path in list_declarations(folder):
        claims = read_declaration(path, PaperClaims)
        if claims.paper in found:
            raise InputError(f"{path}: paper {claims.paper!r} has a file already, expected one; join the two")
        found[claims.paper] = claims
    return found


def judge_claims(claims: Sequence[Claim], tables: Mapping[str, Table]) -> list[JudgedClaim]:
    """Returns every claim with its finding. Errors: InputError for an unknown table, column or row."""
    return [judge_claim(claim, tables) for claim in claims]


def judge_claim(claim: Claim, tables: Mapping[str, Table]) -> JudgedClaim:
    """Returns the claim with its finding; the first rule that holds decides.

    1. untested: a side has no seeds. 2. supported or contradicted: the 95 % interval of the difference
    (Welch; the difference itself if neither side varies) is wholly above or below 0. 3. not settled: the
    rest.
    """
    table = tables[_known(claim.table, list(tables), "table", claim)]
    columns = [column.key for column in table.columns]
    index = columns.index(_known(claim.column, columns, f"column of table {table.key}", claim))
    rows = {row.key: row for row in table.rows}
    better, worse = (
        rows[_known(name, list(rows), f"row of table {table.key}", claim)]
        for name in (claim.better, claim.worse)
    )
    upper, lower = better.cells[index], worse.cells[index]
    printed = None
    if upper.published is not None and lower.published is not None:
        printed = upper.published - lower.published
    ours = statistics.compare_seeds(upper.values, lower.values)
    finding = _finding(upper, lower, ours)
    return JudgedClaim(
        claim=claim,
        better=better,
        worse=worse,
        printed=printed,
        ours=ours,
        seeds=(len(upper.values), len(lower.values)),
        finding=finding,
        more=_more_seeds(upper.values, lower.values, printed) if finding == "not settled" else None,
        decimals=table.decimals,
        links=(cell_anchor(table, better, claim.column), cell_anchor(table, worse, claim.column)),
    )


def judge_small(
    claims: Sequence[Claim], tables: Mapping[str, Table]
) -> list[tuple[JudgedClaim, JudgedClaim]]:
    """Returns each claim, its printed effect in points, beside its judgement by the small leaderboard.

    It tells whether the direction shows on a small backbone after short training, and nothing of the size of
    the effect, nor of the paper's setting. A claim without both rows there is left out.
    """
    rows = {row.key for row in tables[SMALL].rows} if SMALL in tables else set()
    found = []
    for claim in claims:
        if claim.small is not None and {claim.small.better, claim.small.worse} <= rows:
            there = claim.model_copy(update={"table": SMALL, "column": "Avg", **claim.small.model_dump()})
            found.append((_in_points(judge_claim(claim, tables), tables), judge_claim(there, tables)))
    return found


def _in_points(judged: JudgedClaim, tables: Mapping[str, Table]) -> JudgedClaim:
    """Returns the claim with its printed effect in points, as the small leaderboard has its own."""
    if judged.printed is None:
        return judged
    return replace(judged, printed=judged.printed * 100 / tables[judged.claim.table].scale, decimals=2)


def _known(name: str, known: list[str], kind: str, claim: Claim) -> str:
    if name not in known:
        raise InputError(
            f"claim {claim.says!r}: {kind} {name!r} is unknown{near_matches(name, known)}; correct the claim"
        )
    return name


def _finding(upper: Cell, lower: Cell, ours: Comparison | None) -> Finding:
    if not upper.values or not lower.values:
        return "untested"
    if ours is None or ours.low <= 0 <= ours.high:
        return "not settled"
    return "supported" if ours.low > 0 else "contradicted"


def _more_seeds(upper: Sequence[float], lower: Sequence[float], printed: float | None) -> int | None:
    """Seeds to add to show a difference of the printed size; a single seed first needs a second."""
    fewer = min(len(upper), len(lower))
    if fewer < 2:
        return 2 - fewer
    if not printed:
        return None
    variances = [statistics.sample_sd(values) or 0.0 for values in (upper, lower)]
    pooled = (sum(sd**2 for sd in variances) / 2) ** 0.5
    return max(0, statistics.seeds_needed(printed, pooled) - fewer)


def claims_values(
    ledger: Mapping[str, Sequence[JudgedClaim]],
    small: Sequence[tuple[JudgedClaim, JudgedClaim]] = (),
    pages: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Returns what the page shows; `ledger` holds the judged claims by the paper's title, `small` pairs of a
    claim and its judgement at small scale, `pages` where a table stands as seen from the main page, by key.
    """
    findings = Counter(judged.finding for claims in ledger.values() for judged in claims)
    return {"ledger": ledger, "findings": findings, "small": small, "pages": pages or {}}


def _declared_claims(report: Report) -> dict[str, Any]:
    titles, tables = {paper.key: paper.title for paper in report.papers}, report.all_tables
    declared = load_claims(report.leaderboards / "claims")
    shown = {titles[key]: entry.claims for key, entry in declared.items() if key in titles}
    return claims_values(
        {title: judge_claims(claims, tables) for title, claims in shown.items()},
        judge_small([claim for claims in shown.values() for claim in claims], tables),
        {table.key: paper.file for paper in report.papers for table in paper.tables}
        | {table.key: MAIN for table in report.tables},
    )


PAGE = Page("Claims", "pages/claims.html", "claims.html.j2", _declared_claims, order=2)
