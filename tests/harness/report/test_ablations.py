"""The ablation's effects: step minus declared run, and the share of a gap."""

from __future__ import annotations

import pytest

from harness.report.pages import ablations
from harness.report.pages.ablations import gap_of, measure_ablation
from harness.report.pages.content import Ablation, Report, Step
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_results import result
from tests.harness.report.shown import show

STEPS = (
    Step("a-ablation-text", "text", "text: senteval → raw"),
    Step("a-ablation-clipping", "clipping", "clip"),
)
ABLATION = Ablation("a", "b", STEPS)
GAP = 4.0
DECLARED = [
    result("a", seed, {("STS12", "all"): value, ("STSB", "all"): value + 0.1, ("STSB-dev", "all"): 0.9})
    for seed, value in ((0, 0.60), (1, 0.62))
]


def test_an_effect_is_the_mean_over_the_declared_test_sets_and_closes_a_share_of_the_gap() -> None:
    """Declared: means 65 and 67, so 66. Step: 67 and 69, so 68: +2, half of the gap of 4. Dev is left out."""
    change = [
        result(
            "a-ablation-text", seed, {("STS12", "all"): v, ("STSB", "all"): v + 0.1, ("STS13", "all"): 0.1}
        )
        for seed, v in ((0, 0.62), (1, 0.64))
    ]
    measured = measure_ablation(ABLATION, [*DECLARED, *change], GAP)
    (_, text), (_, clipping) = measured.steps
    assert measured.declared == pytest.approx([65.0, 67.0])
    assert measured.tasks == ("STS12", "STSB")
    assert text.change == pytest.approx(2.0)
    assert text.interval is not None
    assert text.interval.low < 0 < text.interval.high
    assert (clipping.change, clipping.interval) == (None, None)
    shown = show(ablations.PAGE, Report("T", "c"), {"ablations": [measured], "figures": []})
    assert "<td>50 %</td>" in shown
    assert (text.seeds, clipping.seeds) == ((2, 2), (0, 2))


def test_a_rung_without_one_of_the_test_sets_and_runs_on_other_backbones_do_not_count() -> None:
    partial = result("a-ablation-text", 0, {("STS12", "all"): 0.9})
    elsewhere = result("a-ablation-text", 0, {("STS12", "all"): 0.9, ("STSB", "all"): 0.9}, backbone="c")
    measured = measure_ablation(ABLATION, [*DECLARED, partial, elsewhere])
    assert not measured.has_scores


def test_the_page_says_what_was_not_run_and_how_to_run_it() -> None:
    one = result("a-ablation-text", 0, {("STS12", "all"): 0.5, ("STSB", "all"): 0.5})
    measured = measure_ablation(ABLATION, [*DECLARED, one], GAP)
    assert measured.steps[0][1].interval is None  # one seed a side
    climbed = show(ablations.PAGE, Report("T", "c"), {"ablations": [measured], "figures": []})
    for said in ("−16.00", "-400 %", '<td class="words" colspan="3">not run</td>'):
        assert said in climbed
    bare = show(ablations.PAGE, Report("T", "c", results=tuple(DECLARED), ablations=(ABLATION,)))
    assert "Ablations that were not run" in bare
    assert "sentbench plan ablation/a &amp;&amp; dvc repro" in bare
    assert "text, clipping" in bare
    assert "nothing to ablate" in show(ablations.PAGE, Report("T", "c"))


def test_a_gap_is_taken_from_the_average_that_the_runs_alone_fill() -> None:
    """Ours 74 against 76 reported: the gap is +2 points, on a scale of 1 as on one of 100."""
    cell = Cell(0.74, published=0.76, runs=("a", "b"))
    row = TableRow("r", "r", (Cell(0.84, published=0.75, runs=("a", "b")), cell))
    table = Table("t", "t", (Column("STSB", "STSB"), Column("Avg", "Avg")), (row,), scale=1.0)
    assert gap_of(["b", "a"], [table]) == pytest.approx(2.0)
    assert gap_of(["a"], [table]) is None
