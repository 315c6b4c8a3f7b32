"""The claims ledger: what a paper says of its systems, and what our seeds say of it.

A claim names a table and rows of it, so the effects that were reported come from the published numbers and
the runs that test them are those of the table's cells: nothing is typed twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from pydantic import Field

from harness.declarations import Declaration, list_declarations, read_declaration
from harness.errors import InputError, near_matches
from harness.facts.comparisons import Claimed, Pair, claimed_among_many
from harness.facts.statistics import Comparison
from harness.facts.verdicts import next_look
from harness.report.pages.anchors import cell_anchor
from harness.report.tables.model import Cell, Table, TableRow

Outcome = Literal["supported", "contradicted", "inconclusive", "untested", "no verdict"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
CLAIMS = "claims"
"""Folder of the declared claims."""


class Rows(Declaration):
    """One row of the claim's table that is said to be above each of others."""

    better: str
    worse: list[str] = Field(min_length=1)


class Claim(Declaration):
    """One claim of a paper: in every one of `columns`, the better row of each `rows` is above its worse ones.

    source: where the paper says it and what it says, in our words. against: the columns of the worse rows
    where they are others than the better one's. lower: the better row is the lower one, as of a loss.
    within: the paper says that the two are the same; we read that as within so many points.
    """

    says: str
    source: str
    table: str
    columns: list[str] = Field(min_length=1)
    rows: list[Rows] = Field(min_length=1)
    against: list[str] = Field(default_factory=list)
    lower: bool = False
    within: float | None = Field(default=None, gt=0)
    note: str = ""


class PaperClaims(Declaration):
    """The claims of one paper; `paper` is its key in the published numbers."""

    paper: str
    claims: list[Claim] = Field(min_length=1)


@dataclass(frozen=True)
class JudgedPair:
    """Two cells of a claim with their evidence, in the table's display scale.

    reported: the published difference in the direction of the claim, None if a value was not reported. ours:
    our difference with its interval at the last look, None before the first. more: seeds to add to the side
    that has fewer up to the next look, None where there is none, or an answer. reason: why there is no
    verdict. links: the ids of the cells of both rows.
    """

    better: TableRow
    worse: TableRow
    columns: tuple[str, str]
    reported: float | None
    ours: Comparison | None
    seeds: tuple[int, int]
    outcome: Outcome
    more: int | None
    reason: str
    links: tuple[str, str]


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its pairs; a claim of several pairs holds where each of them does."""

    claim: Claim
    pairs: tuple[JudgedPair, ...]
    decimals: int
    scale: float = 100.0

    @property
    def outcome(self) -> Outcome:
        """Contradicted if one pair is, supported if all are; else the first of these that holds of a pair:
        no verdict, untested, inconclusive.
        """
        found = {pair.outcome for pair in self.pairs}
        order: tuple[Outcome, ...] = ("contradicted", "no verdict", "untested", "inconclusive")
        return next((outcome for outcome in order if outcome in found), "supported")

    @property
    def reason(self) -> str:
        """Why there is no verdict, empty if there may be one."""
        reasons = dict.fromkeys(pair.reason for pair in self.pairs if pair.reason)
        return "; ".join(reasons) if self.outcome == "no verdict" else ""


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
    """Returns every claim of a paper with its outcome, with false-discovery control over all their pairs.

    A pair that several claims name counts once. Errors: InputError for an unknown table, column or row.
    """
    sides = [list(_sides(claim, tables)) for claim in claims]
    pairs = {two.pair_of: two.pair for some in sides for two in some if two.pair is not None}
    answers = dict(zip(pairs, claimed_among_many(list(pairs.values())), strict=True))
    return [
        JudgedClaim(
            claim,
            tuple(_judge_pair(two, answers.get(two.pair_of)) for two in some),
            tables[claim.table].decimals,
            tables[claim.table].scale,
        )
        for claim, some in zip(claims, sides, strict=True)
    ]


class _Sides(NamedTuple):
    """Two cells of a claim, the one that is said to be better first, with their rows and columns.

    pair: their scores, the one that is said to be higher first; None where they cannot be compared.
    """

    claim: Claim
    rows: tuple[TableRow, TableRow]
    columns: tuple[str, str]
    cells: tuple[Cell, Cell]
    links: tuple[str, str]
    pair: Pair | None

    @property
    def pair_of(self) -> tuple[object, ...]:
        """What is compared: equal for two claims that say the same of the same cells."""
        return (self.claim.table, *self.links, self.claim.lower, self.claim.within)


def _sides(claim: Claim, tables: Mapping[str, Table]) -> Iterator[_Sides]:
    table = tables[_known(claim.table, list(tables), "table", claim)]
    columns = [column.key for column in table.columns]
    rows = {row.key: row for row in table.rows}
    for name in (*claim.columns, *claim.against):
        _known(name, columns, f"column of table {table.key}", claim)
    margin = 0.0 if claim.within is None else claim.within * table.scale / 100
    for better, worse, *pair in pairs_of(claim):
        two = [rows[_known(name, list(rows), f"row of table {table.key}", claim)] for name in (better, worse)]
        upper, lower = (row.cells[columns.index(column)] for row, column in zip(two, pair, strict=True))
        high, low = (lower, upper) if claim.lower else (upper, lower)
        tested = upper.values and lower.values and not (upper.no_verdict or lower.no_verdict)
        links = [cell_anchor(table, row, column) for row, column in zip(two, pair, strict=True)]
        yield _Sides(
            claim,
            (two[0], two[1]),
            (pair[0], pair[1]),
            (upper, lower),
            (links[0], links[1]),
            Pair(high.values, low.values, margin) if tested else None,
        )


def pairs_of(claim: Claim) -> Iterator[tuple[str, str, str, str]]:
    """Yields the better and the worse row of each pair with the columns of both."""
    for rows in claim.rows:
        for worse in rows.worse:
            for column in claim.columns:
                for other in claim.against or [column]:
                    yield rows.better, worse, column, other


def _judge_pair(two: _Sides, answer: tuple[Comparison | None, Claimed] | None) -> JudgedPair:
    """Returns two cells with their outcome; the first rule that holds decides.

    1. no verdict: the runs of a side do not judge its reported number. 2. untested: a side has no seeds. 3.
    what `claimed_among_many` says of the difference.
    """
    upper, lower = two.cells
    reported = None
    if upper.published is not None and lower.published is not None:
        reported = (upper.published - lower.published) * (-1 if two.claim.lower else 1)
    reason = upper.no_verdict or lower.no_verdict
    ours, outcome = answer or (None, "no verdict" if reason else "untested")
    fewer = min(len(upper.values), len(lower.values))
    look = next_look(fewer)
    return JudgedPair(
        better=two.rows[0],
        worse=two.rows[1],
        columns=two.columns,
        reported=reported,
        ours=ours,
        seeds=(len(upper.values), len(lower.values)),
        outcome=outcome,
        more=None if look is None or outcome != "inconclusive" else look - fewer,
        reason=reason,
        links=two.links,
    )


def _known(name: str, known: list[str], kind: str, claim: Claim) -> str:
    if name not in known:
        raise InputError(
            f"claim {claim.says!r}: {kind} {name!r} is unknown{near_matches(name, known)}; correct the claim"
        )
    return name
