"""Claims: what seeds must show before a claim counts as supported."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.declarations import LEADERBOARDS
from harness.errors import InputError
from harness.report.pages import claims as claims_page
from harness.report.pages.claims import (
    Claim,
    JudgedClaim,
    Pair,
    claims_values,
    judge_claim,
    judge_small,
    load_claims,
)
from harness.report.pages.content import Report
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.tables.published import Published
from harness.report.tables.spec import load_specs
from tests.harness.report.shown import show

CLAIM = Claim(says="A beats B", table="t", column="avg", better="a", worse="b")


def judge(
    upper: tuple[float, ...], lower: tuple[float, ...], printed: tuple[float, float] = (72.0, 71.0)
) -> JudgedClaim:
    rows = tuple(
        TableRow(key, key.upper(), (Cell(published=value, values=values),))
        for key, value, values in (("a", printed[0], upper), ("b", printed[1], lower))
    )
    return judge_claim(CLAIM, {"t": Table("t", "T", (Column("avg", "Avg"),), rows)})


def test_an_interval_above_zero_supports_and_one_below_contradicts() -> None:
    """1, 2, 3 against 11, 12, 13: difference 10, standard error sqrt(2/3), t(4) = 2.776, so 10 ± 2.27."""
    judged = judge((11.0, 12.0, 13.0), (1.0, 2.0, 3.0))
    assert judged.finding == "supported"
    assert judged.ours is not None
    assert (judged.ours.low, judged.ours.high) == pytest.approx((10 - 2.267, 10 + 2.267), abs=0.001)
    assert judged.printed == 1.0
    assert judged.more is None
    assert judge((1.0, 2.0, 3.0), (11.0, 12.0, 13.0)).finding == "contradicted"


def test_an_interval_that_holds_zero_cannot_tell_and_says_how_many_seeds_would() -> None:
    """sd 1 on each side, printed difference 1: 17 seeds a side give 80 % power (two-sided t test at 5 %)."""
    judged = judge((1.5, 2.5, 3.5), (1.0, 2.0, 3.0))
    assert judged.finding == "not settled"
    assert judged.more == 17 - 3


def test_the_edge_between_supported_and_not_settled_is_the_interval() -> None:
    """The interval is 2.27 to either side: a difference of 2.2 holds zero, one of 2.3 does not."""
    assert judge((3.2, 4.2, 5.2), (1.0, 2.0, 3.0)).finding == "not settled"
    assert judge((3.3, 4.3, 5.3), (1.0, 2.0, 3.0)).finding == "supported"


def test_one_seed_a_side_cannot_tell_however_far_apart() -> None:
    judged = judge((90.0,), (10.0, 11.0))
    assert (judged.finding, judged.ours, judged.more) == ("not settled", None, 1)


def test_a_side_without_seeds_is_not_run() -> None:
    judged = judge((), (1.0, 2.0))
    assert (judged.finding, judged.seeds, judged.more) == ("untested", (0, 2), None)


def test_two_systems_without_spread_are_compared_exactly() -> None:
    assert judge((2.0, 2.0), (1.0, 1.0)).finding == "supported"
    assert judge((2.0, 2.0), (2.0, 2.0)).finding == "not settled"


@pytest.mark.parametrize("wrong", [{"table": "u"}, {"column": "av"}, {"better": "c"}, {"worse": "c"}])
def test_unknown_names_are_input_errors(wrong: dict[str, str]) -> None:
    table = Table(
        "t", "T", (Column("avg", "Avg"),), (TableRow("a", "A", (Cell(),)), TableRow("b", "B", (Cell(),)))
    )
    with pytest.raises(InputError, match="is unknown"):
        judge_claim(CLAIM.model_copy(update=wrong), {"t": table})


def test_every_declared_claim_names_a_table_a_column_and_rows_that_print_a_difference(
    published: Published,
) -> None:
    specs = load_specs(LEADERBOARDS / "tables")
    ledger = load_claims(LEADERBOARDS / "claims")
    assert set(ledger) == set(published.papers) - {"public"} == {"dclr", "pcl", "ptbert", "sct", "una"}
    claims = [(paper, claim) for paper, declared in ledger.items() for claim in declared.claims]
    assert len(claims) == 29
    assert sum(claim.small is not None for _, claim in claims) == 7
    for paper, claim in claims:
        spec = specs[claim.table]
        assert spec.key.startswith(f"{paper}/")
        rows = {row.published or row.title: row for row in spec.rows}
        assert rows[claim.better].run is not None
        assert rows[claim.worse].run is not None
        spec.column(claim.column)
        assert len(rows) == len(spec.rows), "row keys must be unique for a claim to name one"


def test_the_ledger_shows_each_claim_with_its_finding() -> None:
    shown = judge((11.0, 12.0, 13.0), (1.0, 2.0, 3.0))
    text = show(claims_page.PAGE, Report("T", "abc"), claims_values({"A paper": [shown, judge((), ())]}))
    assert "A beats B" in text
    assert "+10.00" in text
    assert "+7.73 to +12.27" in text
    assert '<span class="finding supported">1 supported</span>' in text
    assert '<span class="finding untested">1 untested</span>' in text


def test_an_empty_ledger_says_so() -> None:
    assert "No claims are declared" in show(claims_page.PAGE, Report("T", "abc"))


def test_one_paper_in_two_files_is_an_input_error(tmp_path: Path) -> None:
    text = "paper: p\nclaims:\n  - {says: s, table: t, column: c, better: a, worse: b}\n"
    for name in ("one.yaml", "two.yaml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="has a file already"):
        load_claims(tmp_path)


def test_a_claim_is_judged_at_small_scale_by_its_two_rows_there_and_labelled_so() -> None:
    """Printed +1 for A; at small scale 1, 2, 3 against 11, 12, 13: contradicted there, else untested."""
    big = Table("t", "T", (Column("avg", "Avg"),), (row("a", 72.0), row("b", 71.0)))
    small = Table("small", "S", (Column("Avg", "Avg"),), (row("x", None, 1.0), row("y", None, 11.0)))
    claim = CLAIM.model_copy(update={"small": Pair(better="x", worse="y")})
    ((printed, found),) = judge_small([claim, CLAIM], {"t": big, "small": small})
    assert (printed.finding, printed.printed, found.finding) == ("untested", 1.0, "contradicted")
    text = show(
        claims_page.PAGE, Report("T", "abc"), claims_values({"A paper": [printed]}, [(printed, found)])
    )
    assert "The same claims at small scale" in text
    assert "does not speak for the papers' setting" in " ".join(text.split())
    assert '<span class="finding contradicted">' not in text  # the tally is of the papers' setting


def test_a_claim_whose_rows_did_not_run_at_small_scale_is_left_out_there() -> None:
    claim = CLAIM.model_copy(update={"small": Pair(better="x", worse="y")})
    assert judge_small([claim], {}) == []
    only = Table("small", "S", (Column("Avg", "Avg"),), (row("x", None, 1.0),))
    assert judge_small([claim], {"small": only}) == []


def row(key: str, published: float | None, lowest: float | None = None) -> TableRow:
    values = () if lowest is None else (lowest, lowest + 1, lowest + 2)
    return TableRow(key, key.upper(), (Cell(published=published, values=values),))
