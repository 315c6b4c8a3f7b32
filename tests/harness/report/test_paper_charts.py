"""The papers' figures: what is drawn of a table, and what others report of its rows."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from harness.facts.evidence.others import ReportedNumber, nothing_known
from harness.report.charts.curves import CurvePoint
from harness.report.charts.papers import chart_of, tick_names
from harness.report.charts.scatter import within
from harness.report.pages.index import geometry_figure
from harness.report.pages.paper import others_values, strip_column
from harness.report.runs import RunDetail
from harness.report.tables.model import Cell, Column, Table, TableRow, row_label
from harness.report.verification import verify
from tests.harness.report.made_results import result

pytest.importorskip("matplotlib", reason="charts need the extra `report`")

BOTH = Cell(71.0, 0.5, 2, 72.0, -1.0, "inconclusive", values=(70.5, 71.5), runs=("a-s0", "a-s1"))
COLUMNS = (Column("size", "Size", plain=True), Column("avg", "Avg"))
FIGURE = Table(
    "p/fig1", "Figure 1", COLUMNS,
    (
        TableRow("a", "K = 1", (Cell(1.0), BOTH), x=1.0),
        TableRow("b", "K = 100", (Cell(), Cell(published=80.0)), x=100.0),
    ),
    kind="figure", x_title="K",
)  # fmt: skip


def described(svg: str) -> str:
    found = re.search(r"<desc[^>]*>(.*?)</desc>", svg, flags=re.DOTALL)
    assert found
    return found[1]


def test_a_chart_tells_both_values_in_words_and_leaves_plain_columns_out() -> None:
    chart = chart_of(FIGURE, {})
    assert chart is not None
    assert described(chart.svg) == "Avg, K = 1: published 72.00, ours 71.00. Avg, K = 100: published 80.00."
    assert chart.caption.startswith("Diamonds: published. Circles: ours")


def test_an_axis_over_two_decades_is_logarithmic_with_a_tick_at_each_value() -> None:
    """1 and 100 differ by more than the factor of 30; an axis from 1 to 20 is linear and ticks 5.0."""
    wide = chart_of(FIGURE, {})
    near = chart_of(replace(FIGURE, rows=(FIGURE.rows[0], replace(FIGURE.rows[1], x=20.0))), {})
    assert wide is not None
    assert near is not None
    ticks = [set(re.findall(r">(1|5.0|100)</text>", chart.svg)) for chart in (wide, near)]
    assert ticks[0] == {"1", "100"}
    assert "5.0" in ticks[1]


def test_a_name_at_a_logarithmic_tick_never_touches_its_neighbour() -> None:
    """Six queue lengths: the names of the last three, of 7 letters each, do not fit side by side."""
    queues = [128.0, 1024.0, 16384.0, 65536.0, 131072.0, 262144.0]
    assert tick_names(queues, panels=1) == ["128", "1,024", "16,384", "65,536", "", "262,144"]
    assert tick_names([0.3, 1.0, 3.0, 10.0, 30.0, 100.0], panels=2) == ["0.3", "1", "3", "10", "30", "100"]


def test_names_beside_points_stay_within_the_axes_and_apart() -> None:
    assert within([-0.2, 0.1, 0.4, 2.0], 0.0, 1.0, gap=0.3) == pytest.approx([0.0, 0.3, 0.6, 1.0])


def test_a_point_of_the_geometry_is_one_system_on_one_backbone_over_all_pairs() -> None:
    """Two seeds on `a` lie at 0.2 and 0.4, one on `b` at 0.9; another setting is not drawn."""
    made = [
        result("x", seed, {("geometry-test", "all"): value}, backbone=backbone, metric="alignment")
        for backbone, seed, value in (("a", 0, 0.2), ("a", 1, 0.4), ("b", 0, 0.9))
    ]
    first = made[0].scores[0]
    more = [
        first.model_copy(update={"metric": "uniformity", "value": -1.0}),
        first.model_copy(update={"setting": "at-least-4", "value": 7.0}),
    ]
    (chart,) = geometry_figure([one.model_copy(update={"scores": [*one.scores, *more]}) for one in made])
    assert described(chart.svg) == (
        "m/v@a: alignment 0.300, uniformity -1.000. m/v@b: alignment 0.900, uniformity -1.000."
    )


def test_rows_without_an_axis_become_one_line_each() -> None:
    rows = tuple(replace(row, x=None) for row in FIGURE.rows)
    chart = chart_of(replace(FIGURE, rows=rows), {})
    assert chart is not None
    assert ">K = 100</text>" in chart.svg


def test_two_rows_at_one_place_of_the_axis_are_drawn() -> None:
    rows = tuple(replace(row, x=3.0) for row in FIGURE.rows)
    assert chart_of(replace(FIGURE, rows=rows), {}) is not None


def test_a_figure_without_any_value_and_a_plain_table_have_no_chart() -> None:
    empty = tuple(replace(row, cells=(Cell(), Cell())) for row in FIGURE.rows)
    assert chart_of(replace(FIGURE, rows=empty), {}) is None
    flat = tuple(replace(row, x=None) for row in FIGURE.rows)
    assert chart_of(replace(FIGURE, kind="table", rows=flat), {}) is None


def test_a_caption_says_what_is_missing() -> None:
    unrun = tuple(replace(row, cells=(Cell(), Cell(published=70.0))) for row in FIGURE.rows)
    chart = chart_of(replace(FIGURE, rows=unrun), {})
    assert chart is not None
    assert chart.caption == "Diamonds: published. None of it has been run yet."


def test_a_figure_of_training_logs_draws_the_curves_of_its_runs() -> None:
    """Uniformity -1.0 at step 0 and -2.0 at step 10; the run of no row is not drawn."""
    points = (CurvePoint(0, 0, 0.5, uniformity=-1.0), CurvePoint(0, 10, 0.6, uniformity=-2.0))
    run = RunDetail(result("a", 0, {}), points)
    logs = replace(FIGURE, logs=("uniformity",))
    chart = chart_of(logs, {"a-s0": run, "z": run})
    assert chart is not None
    assert described(chart.svg) == "K = 1, Uniformity: -1.00 at step 0, -2.00 at step 10."
    assert chart_of(logs, {}) is None
    assert chart_of(logs, {"a-s0": replace(run, curve=())}) is None


def test_the_crosses_of_a_strip_are_the_independent_sources_in_the_scale_of_the_table() -> None:
    nothing = nothing_known()
    sources = replace(nothing.independent, sources={"x/y": 75.4, "x/z": 75.1})
    others = replace(nothing, pools={**nothing.pools, "independent": sources, "checkpoint": sources})
    number = ReportedNumber("p/t", "simcse@bert", "Avg", 76.25, "simcse", 1, 0.005)
    cell = Cell(published=0.7625, evidence=verify(number, others))
    assert others_values(cell, replace(FIGURE, scale=1.0)) == pytest.approx([0.754, 0.751])
    assert others_values(Cell(published=0.7625), FIGURE) == []


def test_a_strip_is_drawn_of_the_last_mean_and_rows_name_their_group() -> None:
    assert strip_column(FIGURE, ["avg", "other"]) == "avg"
    assert strip_column(FIGURE, []) is None
    assert row_label(replace(FIGURE.rows[0], group="BERT")) == "K = 1 (BERT)"
    assert row_label(FIGURE.rows[0]) == "K = 1"
