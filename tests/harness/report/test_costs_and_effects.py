"""Pictures of cost against quality and of an ablation: values read back, sentences worked out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.facts.evidence.others import ReportedNumber, nothing_known
from harness.report.pages.ablations import MeasuredAblation, effect_of, effects_of
from harness.report.pages.content import Ablation, Paper, Step
from harness.report.pages.index import costs_of
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.verification import Plan, verify

pytest.importorskip("vl_convert", reason="pictures need the extra `report`")


def row(system: str, value: float, hours: float | None, seeds: int | None = 5, by: str = "") -> TableRow:
    """A row whose number would take `hours` for all of `seeds` seeds."""
    reported = ReportedNumber("p/t", system, "Avg", value, by or system.partition("@")[0], 1, 0.005)
    plan = Plan(seeds, seeds, hours, "") if seeds else None
    known = replace(verify(replace(reported, system=system), nothing_known()), plan=plan)
    return TableRow(system, system.partition("@")[0].upper(), (Cell(published=value, evidence=known),))


def papers(*rows: TableRow, unit: str = "Spearman × 100") -> list[Paper]:
    return [Paper("p", "P", "", (Table("p/t", "T", (Column("Avg", "Avg"),), rows, unit=unit),))]


def test_a_system_stands_at_the_hours_of_one_seed_and_a_cheaper_one_within_a_point_is_named() -> None:
    """Hours of five seeds: 25 / 5 = 5, 5 / 5 = 1, 2.5 / 5 = 0.5; 77.5 is within a point of 78.2."""
    found = costs_of(
        papers(row("far@base", 76.0, 2.5), row("best@base", 78.2, 25.0), row("near@base", 77.5, 5.0))
    )
    assert found is not None
    assert {(one["name"], one["x"], one["y"]) for one in found.rows} == {
        ("FAR", 0.5, 76.0),
        ("BEST", 5.0, 78.2),
        ("NEAR", 1.0, 77.5),
    }
    assert found.says == (
        "BEST reports most on base, 78.20 with 5.0 hours a seed; of those within a point of it NEAR takes "
        "least, 1.0 hours for 77.50."
    )


def test_effects_of_steps_are_bars_in_points_and_steps_that_were_not_run_are_left_out() -> None:
    ablation = Ablation("simcse", "b", (), ("simcse__b__s0",))
    steps = (
        (Step("simcse~x", "pooling", "mean in place of CLS"), effect_of([69.5], [70.0])),
        (Step("simcse~y", "length", "64 tokens"), effect_of([71.25, 71.25], [70.0, 70.0])),
        (Step("simcse~z", "steps", "twice as many"), effect_of([], [70.0, 70.0])),
    )
    chart = effects_of(MeasuredAblation(ablation, None, [70.0], steps, ("STSB",)))
    assert chart is not None
    assert [(one["name"], one["value"], one.get("low"), one.get("high")) for one in chart.rows] == [
        ("pooling", -0.5, None, None),
        ("length", 1.25, 1.25, 1.25),
    ]
    assert chart.says == "length moves the score most, by +1.25 points."
    assert chart.key == "effects-simcse-on-b"
    assert effects_of(MeasuredAblation(ablation, None, [70.0], steps[2:], ("STSB",))) is None
