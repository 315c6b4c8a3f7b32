"""Pictures of cost against quality and of an ablation: values read back, sentences worked out."""

from dataclasses import replace

import pytest

from harness.facts.evidence.others import ReportedNumber, nothing_known
from harness.report.pages.ablations import MeasuredAblation, effect_of, effects_of
from harness.report.pages.content import Ablation, Paper
from harness.report.pages.index import costs_of
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.verification import Plan, verify

pytest.importorskip("vl_convert", reason="pictures need the extra `report`")


def row(system: str, value: float, hours: float) -> TableRow:
    """A row whose number would take `hours` for all of five seeds."""
    name, _, _ = system.partition("@")
    reported = ReportedNumber("p/t", system, "Avg", value, name, 1, 0.005, system=system)
    known = replace(verify(reported, nothing_known()), plan=Plan(5, 5, hours, ""))
    return TableRow(system, name.upper(), (Cell(published=value, evidence=known),))


def test_a_system_stands_at_the_hours_of_one_seed_and_a_cheaper_one_within_a_point_is_named() -> None:
    """Hours of five seeds: 25 / 5 = 5, 5 / 5 = 1, 2.5 / 5 = 0.5; 77.5 is within a point of 78.2."""
    rows = row("far@base", 76.0, 2.5), row("best@base", 78.2, 25.0), row("near@base", 77.5, 5.0)
    table = Table("p/t", "T", (Column("Avg", "Avg"),), rows, unit="Spearman × 100")
    found = costs_of([Paper("p", "P", "", (table,))])
    assert found is not None
    places = {one["name"]: (one["x"], one["y"]) for one in found.rows}
    assert places == {"FAR": (0.5, 76.0), "BEST": (5.0, 78.2), "NEAR": (1.0, 77.5)}
    assert found.says == (
        "BEST reports most on base, 78.20 with 5.0 hours a seed; of those within a point of it NEAR takes "
        "least, 1.0 hours for 77.50."
    )


def test_effects_of_steps_are_bars_in_points_and_steps_that_were_not_run_are_left_out() -> None:
    effects = {
        "pooling": effect_of([69.5], [70.0]),
        "length": effect_of([71.25, 71.25], [70.0, 70.0]),
        "steps": effect_of([], [70.0, 70.0]),
    }
    ablation = Ablation("simcse", "b", dict.fromkeys(effects, "other"))
    chart = effects_of(MeasuredAblation(ablation, None, [70.0], effects, ("STSB",)))
    assert chart is not None
    assert [(one["name"], one["value"], one.get("low"), one.get("high")) for one in chart.rows] == [
        ("pooling", -0.5, None, None),
        ("length", 1.25, 1.25, 1.25),
    ]
    assert chart.says == "length moves the score most, by +1.25 points."
    assert chart.key == "effects-simcse-on-b"
    unrun = {"steps": effects["steps"]}
    assert effects_of(MeasuredAblation(ablation, None, [70.0], unrun, ("STSB",))) is None
