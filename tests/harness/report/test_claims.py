"""Claims: the evidence required for support, and their sources in the papers."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import InputError
from harness.evidence.published import Published
from harness.evidence.spec import TableSpec
from harness.io.declarations import LEADERBOARDS
from harness.plan.names import FULL_SCALE
from harness.plan.recipes import load_recipes
from harness.report.pages.claims import (
    Claim,
    ClaimedRows,
    JudgedClaim,
    claims_of,
    judge_claims,
    load_claims,
    pairs_of,
)
from harness.report.pages.content import Paper, Report
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_judged import printed
from tests.harness.report.shown import show_paper

CLAIM = Claim(
    says="A beats B",
    source="section 1: it is better",
    table="t",
    columns=["avg"],
    rows=[ClaimedRows(better="a", worse=["b"])],
)


def table_of(cells: Mapping[str, Cell], scale: float = 100.0) -> dict[str, Table]:
    run = {key: replace(cell, runs=tuple(map(str, cell.values))) for key, cell in cells.items()}
    rows = tuple(TableRow(key, key.upper(), (cell,)) for key, cell in run.items())
    return {"t": Table("t", "T", (Column("avg", "Avg"),), rows, scale=scale)}


def rows_of(*, scale: float = 100.0, **values: tuple[float, ...]) -> dict[str, Table]:
    """Returns a table with our seeds' values by row; reported are 72 for A and 71 for B."""
    numbers = {"a": printed(72.0), "b": printed(71.0)}
    return table_of({key: Cell(number=numbers.get(key), values=v) for key, v in values.items()}, scale)


def judge_claim(claim: Claim, tables: dict[str, Table]) -> JudgedClaim:
    """Returns the judgement of a single claim on its page."""
    return judge_claims([claim], tables)[0]


def outcome(tables: dict[str, Table], **changes: object) -> str:
    """Returns the outcome of the claim with these changes."""
    return judge_claim(CLAIM.model_copy(update=changes), tables).outcome


def page_of(folder: Path, tables: dict[str, Table], *claims: Claim) -> str:
    """Returns the page of a paper with these tables, about which it declares these claims."""
    declared = {"paper": "p", "claims": [claim.model_dump(exclude_defaults=True) for claim in claims]}
    (folder / "claims").mkdir()
    (folder / "claims" / "p.yaml").write_text(json.dumps(declared), encoding="utf-8")
    paper = Paper("p", "A paper", "ACL", tuple(tables.values()))
    for name in ("audit", "answers.yaml"):
        (folder / name).symlink_to(LEADERBOARDS.resolve() / name)
    report = Report("T", "abc", papers=(paper,), leaderboards=folder)
    return show_paper(report, paper)


def five(centre: float, sd: float = 1.0) -> tuple[float, ...]:
    """Five scores with this mean and standard deviation: squares 2 (1.6 + 0.4) / 4 = 1.

    Welch's test of two such lists has an error of sqrt(2/5) = 0.63246; t(0.9925, 8) = 3.08546 gives 1.9514.
    """
    return tuple(centre + sd * step * 0.4**0.5 for step in (-2, -1, 0, 1, 2))


@pytest.mark.parametrize(
    ("upper", "lower", "outcome", "more"),
    [
        (five(12), five(2), "supported", None),
        (five(2), five(12), "contradicted", None),
        # the interval is 1.95 to either side: a difference of 1.9 includes zero, one of 2.0 does not
        (five(4), five(2), "supported", None),
        (five(3.9), five(2), "inconclusive", 5),
        # before the first look at five seeds per side
        ((1.0, 2.0, 3.0), five(20), "inconclusive", 2),
        ((), (1.0, 2.0), "untested", None),
        # seeds with one score are an error in the data
        ((2.0,) * 5, (1.0,) * 5, "inconclusive", 5),
        ((2.0,) * 5, five(20), "inconclusive", 5),
    ],
)
def test_an_interval_decides_and_one_that_includes_zero_leads_to_the_next_look(
    upper: tuple[float, ...], lower: tuple[float, ...], outcome: str, more: int | None
) -> None:
    (judged,) = judge_claim(CLAIM, rows_of(a=upper, b=lower)).pairs
    assert (judged.outcome, judged.more) == (outcome, more)
    assert (judged.ours is None) == (min(judged.seeds) < 5 or len(set(upper)) == 1)


@pytest.mark.parametrize(
    "wrong", [{"table": "u"}, {"against": ["av"]}, {"rows": [ClaimedRows(better="a", worse=["c"])]}]
)
def test_unknown_names_are_input_errors(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match="is unknown"):
        outcome(rows_of(a=(), b=()), **wrong)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (["supported", "no verdict", "contradicted"], "contradicted"),
        (["inconclusive", "untested", "no verdict"], "no verdict"),
        (["supported", "inconclusive", "untested"], "untested"),
        (["supported", "inconclusive"], "inconclusive"),
        (["supported", "supported"], "supported"),
    ],
)
def test_a_claim_has_the_outcome_of_its_most_telling_pair(pairs: list[str], said: str) -> None:
    judged: Any = [SimpleNamespace(outcome=pair) for pair in pairs]
    assert JudgedClaim(CLAIM, tuple(judged), rows_of(a=(), b=())["t"]).outcome == said


@pytest.mark.parametrize(("reported", "small"), [(69.0, 0), (71.1, 1), (72.9, 1), (75.0, 0)])
def test_a_claimed_difference_is_small_in_either_direction(reported: float, small: int) -> None:
    """Against 72: three points lower is no small difference."""
    cells = {"a": Cell(number=printed(reported)), "b": Cell(number=printed(72.0))}
    chart = claims_of("p", [judge_claim(CLAIM, table_of(cells))])
    assert chart is not None
    assert chart.says.startswith(f"{small} of 1 reported differences are below one point")


def test_the_picture_of_claims_counts_the_pairs_that_it_shows() -> None:
    """A claim of equality and one where lower is better are tested too, and are no part of the picture."""
    tables = rows_of(a=five(12), b=five(2))
    claims = [CLAIM, *(CLAIM.model_copy(update=other) for other in ({"within": 1.0}, {"lower": True}))]
    judged = judge_claims(claims, tables)
    assert all(pair.ours is not None for claim in judged for pair in claim.pairs)
    chart = claims_of("p", judged)
    assert chart is not None
    assert chart.says == "0 of 1 reported differences are below one point; our seeds test 1."


@pytest.mark.parametrize(
    "other",
    [{"within": 1.0}, {"within": 5.0}, {"lower": True}, {"columns": ["more"]}, {"rows": [("a", "c")]}],
)
def test_a_claim_next_to_another_has_the_answer_of_its_own_pair(other: dict[str, Any]) -> None:
    """Two claims on the same cells are two questions if they differ in direction or margin."""
    cells = {"a": five(12), "b": five(2), "c": five(20)}
    table = rows_of(**cells)["t"]
    rows = tuple(
        replace(row, cells=(*row.cells, rows_of(**cells)["t"].rows[2].cells[0])) for row in table.rows
    )
    tables = {"t": replace(table, columns=(*table.columns, Column("more", "More")), rows=rows)}
    if "rows" in other:
        other = {"rows": [ClaimedRows(better=better, worse=[worse]) for better, worse in other["rows"]]}
    second = CLAIM.model_copy(update=other)
    for order in ([CLAIM, second], [second, CLAIM]):
        together = judge_claims(order, tables)
        for claim, judged in zip(order, together, strict=True):
            (pair,) = judged.pairs
            assert pair.claimed == judge_claim(claim, tables).pairs[0].claimed
            assert (pair.columns, pair.better.key, pair.worse.key) == (
                (claim.columns[0],) * 2,
                claim.rows[0].better,
                claim.rows[0].worse[0],
            )
    assert len({pair.compares for judged in together for pair in judged.pairs}) == 2


def test_a_loss_is_better_where_it_is_lower() -> None:
    assert outcome(rows_of(a=five(2), b=five(12)), lower=True) == "supported"
    assert outcome(rows_of(a=five(12), b=five(2)), lower=True) == "contradicted"
    (pair,) = judge_claim(CLAIM.model_copy(update={"lower": True}), rows_of(a=(), b=())).pairs
    assert pair.reported == 71.0 - 72.0


def test_a_claim_of_equality_needs_an_interval_within_its_points() -> None:
    """The interval is 1.95 to either side: 0 and 2.1 are the same within 5 points, 0 and 8 are not, whatever
    the scale of the table.
    """
    for ours, said in ((4.1, "supported"), (7, "inconclusive"), (10, "contradicted")):
        assert outcome(rows_of(a=five(ours), b=five(2)), within=5.0) == said
        assert outcome(rows_of(a=five(2), b=five(ours)), within=5.0) == said
    for scale in (100.0, 1.0):
        assert outcome(rows_of(scale=scale, a=five(4.1), b=five(2)), within=5.0) == "supported"


@pytest.mark.parametrize(
    ("better", "worse", "said"),
    [
        ("a", "b", "supported"),
        ("a", "bb", "supported"),
        ("a", "bc", "inconclusive"),
        ("a", "bcd", "untested"),
        ("b", "ad", "contradicted"),
    ],
)
def test_a_claim_of_several_pairs_holds_where_each_of_them_does(better: str, worse: str, said: str) -> None:
    tables = rows_of(a=five(12), b=five(2), c=five(11.5), d=())
    assert outcome(tables, rows=[ClaimedRows(better=better, worse=list(worse))]) == said


def test_answers_are_controlled_over_all_pairs_of_a_paper_each_counted_once() -> None:
    """Welch, five seeds with sd 1 a side: a difference of 2.5 holds alone, and not as one of four.

    Pairs that runs may not judge do not count.
    """
    tables = rows_of(a=five(2.5), b=five(0), c=five(0.1), d=five(0.2))
    rows = [ClaimedRows(better="b", worse=["c", "d"]), ClaimedRows(better="c", worse=["d"])]
    others = CLAIM.model_copy(update={"rows": rows})
    assert [judged.outcome for judged in judge_claims([CLAIM] * 3, tables)] == ["supported"] * 3
    assert [judged.outcome for judged in judge_claims([CLAIM, others], tables)] == ["inconclusive"] * 2
    centres = {"a": 2.5, "b": 0.0, "c": 0.1, "d": 0.2}
    quiet = {key: Cell(values=five(x), no_verdict="" if key in "ab" else "n") for key, x in centres.items()}
    actual = judge_claims([CLAIM, others], table_of(quiet))
    assert [judged.outcome for judged in actual] == ["supported", "no verdict"]


def test_runs_that_judge_no_number_judge_no_claim(tmp_path: Path) -> None:
    tables = table_of({"a": Cell(values=five(12), no_verdict="other texts"), "b": Cell(values=five(2))})
    assert outcome(tables) == "no verdict"
    assert "other texts" in page_of(tmp_path, tables, CLAIM)


UNREADABLE = {"dclr/fig3", "dclr/fig4", "pcl/fig4", "ptbert/fig3"}
"""Figures whose values could not be read: of claims about them the paper's words are all there is."""


def test_the_reported_numbers_of_every_claim_satisfy_it(tables: dict[str, Table]) -> None:
    unread = set()
    for declared in load_claims(LEADERBOARDS).values():
        for judged in (judge_claim(claim, tables) for claim in declared):
            claim, scale = judged.claim, tables[judged.claim.table].scale / 100
            for pair in judged.pairs:
                if pair.reported is None:
                    unread.add(claim.table)
                elif claim.within is None:
                    assert pair.reported > 1e-9, (claim.says, pair.better.key, pair.worse.key, pair.columns)
                else:
                    assert abs(pair.reported) <= claim.within * scale, (claim.says, pair.reported)
    assert unread == UNREADABLE


def test_every_claim_names_its_place_in_the_paper_and_full_scale_runs(
    published: Published, specs: dict[str, TableSpec]
) -> None:
    """A claim about a paper's backbone is answered by full-scale runs, never by the small plan's."""
    full = {
        key for recipe in load_recipes().values() if FULL_SCALE in recipe.providers for key in recipe.systems
    }
    ledger = load_claims(LEADERBOARDS)
    assert set(ledger) == set(published.papers) - {"public"} == {"dclr", "pcl", "ptbert", "sct", "una"}
    claims = [(paper, claim) for paper, declared in ledger.items() for claim in declared]
    assert len(claims) == 70
    for paper, claim in claims:
        assert re.match(
            r"(section \d(\.\d)*|appendix [A-Z])(, (table|figure) [A-D]?\d[a-c]?)+: \w", claim.source
        ), claim.says
        spec = specs[claim.table]
        assert spec.key.startswith(f"{paper}/")
        rows = {row.published or row.title: row for row in spec.rows}
        assert len(rows) == len(spec.rows), "row keys must be unique for a claim to name one"
        for better, worse, of_better, of_worse in pairs_of(claim):
            for name, column in ((better, of_better), (worse, of_worse)):
                choice = spec.choice(rows[name], spec.column(column))
                if choice is None:
                    assert rows[name].note.startswith("not run: "), (claim.says, name, column)
                else:
                    assert choice.system in full


def test_the_ledger_shows_each_claim_and_each_of_its_pairs_with_its_finding(tmp_path: Path) -> None:
    """Ours is 10 with 2.03 to either side, as `five` says; reported is 1."""
    unrun = {"u": replace(rows_of(a=(), b=())["t"], key="u")}
    claims = [CLAIM, CLAIM.model_copy(update={"table": "u"})]
    claims.append(CLAIM.model_copy(update={"rows": [ClaimedRows(better="a", worse=["b", "b"])]}))
    text = page_of(tmp_path, rows_of(a=five(12), b=five(2)) | unrun, *claims)
    for said in ("A beats B", "section 1: it is better", "+1.00", "+10.00", "2 pairs"):
        assert said in text
    assert text.count("+8.05 to +11.95") == 3
    assert '<span class="outcome supported">2 supported</span>' in text
    assert '<span class="outcome untested">1 untested</span>' in text
