"""The claims of a paper about its systems, and the answers of our seeds.

A claim names a table and its rows, so reported effects come from the published numbers and the tests from the
runs of the table's cells.
"""

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import Field

from harness.errors import InputError, near_matches
from harness.evidence.comparisons import Claimed, Pair, claimed_among_many
from harness.evidence.number_tests import next_look
from harness.evidence.statistics import WelchComparison
from harness.io.declarations import DeclaredModel, list_declarations, read_declaration
from harness.report.chart import Chart, Row, draw
from harness.report.formats.number import Format
from harness.report.pages.cells import cell_anchor, in_points
from harness.report.pages.content import Paper, Report
from harness.report.runs import slug
from harness.report.tables.model import Table, TableRow

T = TypeVar("T")
Outcome = Literal["supported", "contradicted", "inconclusive", "untested", "no verdict"]
CLAIM_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
LONG = 48
"""Letters of a claim in one line of a picture for phones; longer ones take two."""
FEW_PAIRS = 3
"""The most pairs of a claim that are drawn one by one."""


class ClaimedRows(DeclaredModel):
    """A row of the claim's table that is claimed to be above others."""

    better: str
    worse: list[str] = Field(min_length=1)


class Claim(DeclaredModel):
    """One claim of a paper: in every one of `columns`, the better row of each `rows` is above its worse ones.

    source: its place in the paper and its content, in our words. against: the columns of the worse rows, if
    they differ from the better row's. lower: the better row is the lower one, as for a loss. within: for a
    claim of equality, the number of points within which rows count as equal.
    """

    says: str
    source: str
    table: str
    columns: list[str] = Field(min_length=1)
    rows: list[ClaimedRows] = Field(min_length=1)
    against: list[str] = Field(default_factory=list)
    lower: bool = False
    within: float | None = Field(default=None, gt=0)
    note: str = ""


class PaperClaims(DeclaredModel):
    """The claims of one paper; `paper` is its key in the published numbers."""

    paper: str
    claims: list[Claim] = Field(min_length=1)


@dataclass
class JudgedPair:
    """Two cells of a claim, the claimed better one first.

    links: their ids. scores: ours, of the claimed higher cell first. reported: the published difference in
    the direction of the claim, None if a value was not reported; all in points.
    reason: for no verdict, if runs of a side do not judge its number; empty otherwise. compares: key of the
    comparison, equal for claims with the same content. ours: our difference in the direction of the claim,
    with its interval at the last look, None before the first; claimed: its answer to the claim.
    """

    better: TableRow
    worse: TableRow
    columns: tuple[str, str]
    links: tuple[str, str]
    seeds: tuple[int, int]
    scores: Pair
    reported: float | None
    reason: str
    compares: tuple[object, ...]
    ours: WelchComparison | None = None
    claimed: Claimed = "inconclusive"

    @property
    def label(self) -> str:
        """The compared systems, as text."""
        return f"{self.better.title} and {self.worse.title}, {self.columns[0]}"

    @property
    def outcome(self) -> Outcome:
        """No verdict with a reason, untested without seeds on a side, otherwise our difference's answer."""
        if self.reason:
            return "no verdict"
        return self.claimed if min(self.seeds) else "untested"

    @property
    def more(self) -> int | None:
        """Missing seeds of the smaller side up to the next look; None after the last or with an answer."""
        look = next_look(min(self.seeds))
        return None if look is None or self.outcome != "inconclusive" else look - min(self.seeds)


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its pairs; it holds if every pair holds."""

    claim: Claim
    pairs: tuple[JudgedPair, ...]
    table: Table

    @property
    def outcome(self) -> Outcome:
        """Contradicted if one pair is, supported if all are; otherwise the first of these that applies to
        a pair: no verdict, untested, inconclusive.
        """
        outcomes = {pair.outcome for pair in self.pairs}
        order: tuple[Outcome, ...] = ("contradicted", "no verdict", "untested", "inconclusive")
        return next((outcome for outcome in order if outcome in outcomes), "supported")

    @property
    def form(self) -> Format:
        """The format of its differences: points for scores, as in the picture, otherwise as of its table."""
        column = next(column for column in self.table.columns if column.key == self.claim.columns[0])
        return in_points(self.table, column)

    @property
    def reported(self) -> tuple[float, float] | None:
        """The smallest and the largest reported difference of its pairs, None if no pair has one."""
        differences = [pair.reported for pair in self.pairs if pair.reported is not None]
        return (min(differences), max(differences)) if differences else None

    @property
    def reason(self) -> str:
        """Reason for no verdict, empty otherwise."""
        reasons = dict.fromkeys(pair.reason for pair in self.pairs if pair.reason)
        return "; ".join(reasons) if self.outcome == "no verdict" else ""


def load_claims(leaderboards: Path) -> dict[str, list[Claim]]:
    """Returns the declared claims by paper. Errors: InputError if a file is wrong."""
    claims: dict[str, list[Claim]] = {}
    for path in list_declarations(leaderboards / "claims"):
        declared = read_declaration(path, PaperClaims)
        claims.setdefault(declared.paper, []).extend(declared.claims)
    return claims


def judge_claims(claims: Sequence[Claim], tables: Mapping[str, Table]) -> list[JudgedClaim]:
    """Returns every claim of a paper with its outcome, with false-discovery control over all their pairs.

    A pair that several claims name counts once. Errors: InputError for an unknown table, column or row.
    """
    judged = [JudgedClaim(claim, tuple(_pairs(claim, tables)), tables[claim.table]) for claim in claims]
    tested = [
        pair for judged_claim in judged for pair in judged_claim.pairs if pair.outcome == "inconclusive"
    ]
    scores = {pair.compares: pair.scores for pair in tested}
    answers = dict(zip(scores, claimed_among_many(list(scores.values())), strict=True))
    for pair in tested:
        pair.ours, pair.claimed = answers[pair.compares]
    return judged


def _pairs(claim: Claim, tables: Mapping[str, Table]) -> Iterator[JudgedPair]:
    table = _known(claim, "table", claim.table, tables)
    columns = {column.key: index for index, column in enumerate(table.columns)}
    rows = {row.key: row for row in table.rows}
    for better, worse, first_column, second_column in pairs_of(claim):
        first, second = (_known(claim, f"row of table {table.key}", name, rows) for name in (better, worse))
        upper, lower = (
            row.cells[_known(claim, f"column of table {table.key}", name, columns)]
            for row, name in ((first, first_column), (second, second_column))
        )
        links = cell_anchor(table, first, first_column), cell_anchor(table, second, second_column)
        reported = None
        if upper.published is not None and lower.published is not None:
            reported = (upper.published - lower.published) * (-1 if claim.lower else 1)
        high, low = (lower, upper) if claim.lower else (upper, lower)
        yield JudgedPair(
            better=first,
            worse=second,
            columns=(first_column, second_column),
            links=links,
            seeds=(len(upper.values), len(lower.values)),
            scores=Pair(high.values, low.values, claim.within or 0.0),
            reported=reported,
            reason=upper.no_verdict or lower.no_verdict,
            compares=(claim.table, *links, claim.lower, claim.within),
        )


def pairs_of(claim: Claim) -> Iterator[tuple[str, str, str, str]]:
    """Yields the better and the worse row of each pair with the columns of both."""
    for rows in claim.rows:
        for worse in rows.worse:
            for column in claim.columns:
                for other in claim.against or [column]:
                    yield rows.better, worse, column, other


def _known(claim: Claim, kind: str, name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        near = near_matches(name, list(known))
        raise InputError(f"claim {claim.says!r}: {kind} {name!r} is unknown{near}; correct the claim")
    return known[name]


def claims_of(key: str, claims: Sequence[JudgedClaim]) -> Chart | None:
    """Returns the claimed differences of a paper in points, with ours; None if none is a score. Claims of
    equality, and claims where lower is better, are skipped.
    """
    rows: list[Row] = []
    reported: list[float] = []
    tested = 0
    for judged in claims:
        claim = judged.claim
        if claim.lower or claim.within:
            continue
        pairs = [
            (pair, f"{pair.better.title} and {pair.worse.title}, {pair.columns[0]}") for pair in judged.pairs
        ]
        values = {of: round(pair.reported, 4) for pair, of in pairs if pair.reported is not None}
        reported += values.values()
        rows += _reported_marks(claim.says, values)
        for pair, of in pairs:
            if pair.ours is not None:
                tested += 1
                ends = {"low": pair.ours.low, "high": pair.ours.high}
                rows.append(
                    {"name": claim.says, "kind": "ours", "value": pair.ours.difference, **ends, "says": of}
                )
    if not rows:
        return None
    small = sum(abs(value) < 1 for value in reported)
    return draw(
        "rows",
        rows,
        key=f"claims-{slug(key)}",
        title="Claimed differences",
        caption="Diamonds: reported, one for each pair of a claim; of more than three the median, with a "
        "bar from the lowest to the highest. Circles: ours, with their interval.",
        says=f"{small} of {len(reported)} reported differences are below one point; our seeds test {tested}.",
        x_title="difference in points, in the direction of the claim",
        long=LONG,
        tall=52 if any(len(row["name"]) > LONG for row in rows) else 40,
        zero=True,
    )


def _reported_marks(name: str, values: Mapping[str, float]) -> list[Row]:
    """Returns the marks of a claim's reported differences: one per pair, or the median and the ends."""
    labels = {"name": name, "kind": "reported"}
    if len(values) <= FEW_PAIRS:
        return [{**labels, "value": value, "says": f"{of}: {value:+.2f}"} for of, value in values.items()]
    low, high = min(values.values()), max(values.values())
    says = f"{len(values)} pairs: {low:+.2f} to {high:+.2f}"
    return [{**labels, "value": statistics.median(values.values()), "low": low, "high": high, "says": says}]


def claims_values(report: Report, paper: Paper) -> dict[str, Any]:
    """Returns the claims section of a paper's page: claims by outcome, counts, and a picture."""
    declared = load_claims(report.leaderboards).get(paper.key, [])
    judged = judge_claims(declared, report.all_tables)
    counts = Counter(claim.outcome for claim in judged)
    return {
        "claims": sorted(judged, key=lambda claim: CLAIM_OUTCOMES.index(claim.outcome)),
        "outcomes": {outcome: counts[outcome] for outcome in CLAIM_OUTCOMES if counts[outcome]},
        "claimed": claims_of(paper.key, judged),
    }
