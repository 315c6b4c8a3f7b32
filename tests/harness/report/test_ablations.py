"""The ablation's effects: step minus declared run, their picture, and the share of a gap."""

from dataclasses import replace
from typing import Any

import pytest

from harness.evidence.schema import ResultFile
from harness.report.pages import ablations, small
from harness.report.pages.ablations import MeasuredAblation, effect_of, effects_of, gap_of, measure_ablation
from harness.report.pages.content import Ablation, Report
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_judged import printed
from tests.harness.report.made_results import result
from tests.harness.report.shown import show

ABLATION = Ablation("a", "b", {"text": "senteval → raw", "clipping": "clip"})
DECLARED = [
    result("a", seed, {("STS12", "all"): value, ("STSB", "all"): value + 0.1, ("STSB-dev", "all"): 0.9})
    for seed, value in ((0, 0.60), (1, 0.62))
]


def changed(seed: int, backbone: str = "b", **scores: float) -> ResultFile:
    raw = {(task, "all"): value for task, value in scores.items()}
    return result("a-ablation-text", seed, raw, backbone=backbone)


def small_page(report: Report, **values: Any) -> str:
    """Returns the page of the small plan with these values; its pictures are drawn in another test."""
    shown = {**small.table_values(report, "small"), **ablations.ablation_values(report), "rows": [], **values}
    return show(small.pages(report)[0], report, {**shown, "effects": [], "figures": []})


def test_an_effect_is_the_mean_over_the_declared_test_sets_and_closes_a_share_of_the_gap() -> None:
    """Declared: means 65 and 67, so 66. Step: 67 and 69, so 68: +2, half of the gap of 4. Dev is left out."""
    change = [changed(seed, STS12=0.62 + seed / 50, STSB=0.72 + seed / 50, STS13=0.1) for seed in (0, 1)]
    measured = measure_ablation(ABLATION, [*DECLARED, *change], 4.0)
    text, clipping = measured.effects.values()
    assert measured.declared == pytest.approx([65.0, 67.0])
    assert measured.tasks == ("STS12", "STSB")
    assert text.change == pytest.approx(2.0)
    assert text.interval is not None
    assert text.interval.low < 0 < text.interval.high
    assert (clipping.change, clipping.interval) == (None, None)
    shown = small_page(Report("T", "c"), ablations=[measured])
    assert "<td>50 %</td>" in shown
    assert (text.seeds, clipping.seeds) == ((2, 2), (0, 2))


def test_a_rung_without_one_of_the_test_sets_and_runs_on_other_backbones_do_not_count() -> None:
    runs = [changed(0, STS12=0.9), changed(0, "c", STS12=0.9, STSB=0.9)]
    measured = measure_ablation(ABLATION, [*DECLARED, *runs])
    assert not measured.has_scores


def test_the_page_lists_missing_runs_and_their_command() -> None:
    measured = measure_ablation(ABLATION, [*DECLARED, changed(0, STS12=0.5, STSB=0.5)], 4.0)
    assert measured.effects["text"].interval is None  # one seed a side
    climbed = small_page(Report("T", "c"), ablations=[measured])
    for said in ("−16.00", "-400 %", '<td class="words" colspan="3">not run</td>'):
        assert said in climbed
    bare = small_page(Report("T", "c", results=tuple(DECLARED), ablations=(ABLATION,)))
    assert "Ablations that were not run" in bare
    assert "sentbench plan ablation/a &amp;&amp; dvc repro" in bare
    assert "text, clipping" in bare
    assert 'id="ablations"' not in small_page(Report("T", "c"))


def test_a_gap_is_taken_from_the_average_that_the_runs_alone_fill() -> None:
    """Ours 74 against 76 reported: the gap is +2 points, on a scale of 1 as on one of 100."""
    cell = Cell(74.0, number=printed(76.0), runs=("a", "b"))
    row = TableRow("r", "r", (Cell(84.0, number=printed(75.0), runs=("a", "b")), cell))
    table = Table("t", "t", (Column("STSB", "STSB"), Column("Avg", "Avg")), (row,), scale=1.0)
    assert gap_of(["b", "a"], [table]) == pytest.approx(2.0)
    assert gap_of(["a"], [table]) is None


HALF = 7.385598 * 0.0725**0.5
"""Variances 0.125 and 0.02, error sqrt(0.0625 + 0.01); freedom 0.0725^2 / (0.0625^2 + 0.01^2)."""


def test_effects_of_steps_are_bars_in_points_and_steps_that_were_not_run_are_left_out() -> None:
    pytest.importorskip("vl_convert", reason="pictures need the extra `report`")
    effects = {
        "pooling": effect_of([69.5], [70.0]),
        "length": effect_of([71.0, 71.5], [69.9, 70.1]),
        "steps": effect_of([], [70.0, 70.0]),
    }
    measured = MeasuredAblation(
        Ablation("simcse", "b", dict.fromkeys(effects, "other")), None, [70.0], effects, ("STSB",)
    )
    chart = effects_of(measured)
    assert chart is not None
    assert [(bar["name"], bar["value"], bar.get("low"), bar.get("high")) for bar in chart.rows] == [
        ("pooling", -0.5, None, None),
        ("length", 1.25, pytest.approx(1.25 - HALF), pytest.approx(1.25 + HALF)),
    ]
    assert chart.says == "length moves the score most, by +1.25 points."
    assert chart.key == "effects-simcse-on-b"
    assert effects_of(replace(measured, effects={"steps": effects["steps"]})) is None
