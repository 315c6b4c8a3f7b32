"""The gap ladder's effects: rung minus declared run, and the share of a gap."""

from __future__ import annotations

import pytest

from harness.report.pages import ladder
from harness.report.pages.content import Ladder, Report, Step
from harness.report.pages.ladder import gap_of, measure_ladder
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_results import result
from tests.harness.report.shown import show

STEPS = (Step("a-ladder-text", "text", "text: senteval → raw"), Step("a-ladder-clipping", "clipping", "clip"))
LADDER = Ladder("a", "b", STEPS)
GAP = 4.0
DECLARED = [
    result("a", seed, {("STS12", "all"): value, ("STSB", "all"): value + 0.1, ("STSB-dev", "all"): 0.9})
    for seed, value in ((0, 0.60), (1, 0.62))
]


def test_an_effect_is_the_mean_over_the_declared_test_sets_and_closes_a_share_of_the_gap() -> None:
    """Declared: means 65 and 67, so 66. Rung: 67 and 69, so 68: +2, half of the gap of 4. Dev is left out."""
    rung = [
        result("a-ladder-text", seed, {("STS12", "all"): v, ("STSB", "all"): v + 0.1, ("STS13", "all"): 0.1})
        for seed, v in ((0, 0.62), (1, 0.64))
    ]
    measured = measure_ladder(LADDER, [*DECLARED, *rung], GAP)
    text, clipping = measured.steps
    assert measured.declared == pytest.approx(66.0)
    assert measured.tasks == ("STS12", "STSB")
    assert text.change == pytest.approx(2.0)
    assert text.share == pytest.approx(0.5)
    assert text.interval is not None
    assert text.interval.low < 0 < text.interval.high
    assert (clipping.change, clipping.interval, clipping.share) == (None, None, None)
    assert (text.seeds, clipping.seeds) == ((2, 2), (0, 2))


def test_a_rung_without_one_of_the_test_sets_and_runs_on_other_backbones_do_not_count() -> None:
    partial = result("a-ladder-text", 0, {("STS12", "all"): 0.9})
    elsewhere = result("a-ladder-text", 0, {("STS12", "all"): 0.9, ("STSB", "all"): 0.9}, backbone="c")
    measured = measure_ladder(LADDER, [*DECLARED, partial, elsewhere])
    assert not measured.has_scores


def test_one_seed_a_side_has_a_change_without_an_interval_and_no_gap_no_share() -> None:
    one = result("a-ladder-text", 0, {("STS12", "all"): 0.5, ("STSB", "all"): 0.5})
    measured = measure_ladder(LADDER, [DECLARED[0], one])
    assert measured.steps[0].change == pytest.approx(-15.0)
    assert (measured.steps[0].interval, measured.steps[0].share) == (None, None)


def test_the_page_says_what_was_not_run_and_how_to_run_it() -> None:
    one = result("a-ladder-text", 0, {("STS12", "all"): 0.5, ("STSB", "all"): 0.5})
    climbed = show(
        ladder.PAGE, Report("T", "c"), {"ladders": [measure_ladder(LADDER, [*DECLARED, one], GAP)]}
    )
    assert "−16.00" in climbed
    assert "−400 %" in climbed.replace("-400 %", "−400 %")
    assert '<td class="words" colspan="3">not run</td>' in climbed
    bare = show(ladder.PAGE, Report("T", "c", results=tuple(DECLARED), ladders=(LADDER,)))
    assert "Ladders that were not run" in bare
    assert "sentbench plan ladder/a &amp;&amp; dvc repro" in bare
    assert "text, clipping" in bare
    assert "no ladder to climb" in show(ladder.PAGE, Report("T", "c"))


def test_a_gap_is_taken_from_the_average_that_the_runs_alone_fill() -> None:
    """Ours 74 against 76 printed: the gap is +2 points, on a scale of 1 as on one of 100."""
    cell = Cell(0.74, published=0.76, delta=-0.02, runs=("a", "b"))
    row = TableRow("r", "r", (Cell(delta=9.0, runs=("a", "b")), cell))
    table = Table("t", "t", (Column("STSB", "STSB"), Column("Avg", "Avg")), (row,), scale=1.0)
    assert gap_of(["b", "a"], [table]) == pytest.approx(2.0)
    assert gap_of(["a"], [table]) is None
