"""A weekend on one GPU: the plans that fit one after the other, and the main table of each paper."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.plan.recipes import load_recipes
from harness.report.assembly.tables import build_one_table
from harness.report.hours import BACKBONE, Weekend, WeekendPlan, weekend_of
from harness.report.night import NIGHT, night_of
from harness.report.tables.model import Table

ROOT = Path(__file__).parents[3]


def plan(name: str, numbers: str, hours: float | None) -> WeekendPlan:
    facts = frozenset((letter, "Avg", 1.0) for letter in numbers)
    return WeekendPlan(Table(name, name, (), ()), f"sentbench plan {name}", 1, facts, hours)


def test_the_plans_that_fit_are_run_one_after_the_other() -> None:
    """10 + 38 = 48 hours fit, and 20 more do not. The first two share the score b, so they judge three."""
    plans = plan("a", "ab", 10.0), plan("b", "bc", 38.0), plan("c", "d", 20.0)
    weekend = Weekend(plans, "Card", "are a guess")
    assert weekend.fitting == [*plans[:2]]
    assert weekend.numbers == 3
    assert weekend.sentence == (
        "48 hours of one Card are enough for 2 of these 3 tables, with up to 3 reported scores. "
        "Hours are a guess."
    )
    assert weekend.section().splitlines()[-5:] == [
        "| c | `c --backbone bert-base-uncased` | 1 | 1 | 20.0 |",
        "",
        "    sentbench plan a b --backbone bert-base-uncased --seeds 5",
        "    sentbench data fetch",
        "    sentbench launch",
    ]


def test_a_plan_of_unknown_cost_and_one_that_is_longer_than_a_weekend_do_not_fit() -> None:
    known, unknown = plan("a", "a", 48.0), plan("b", "b", None)
    assert Weekend((known, unknown), "Card", "").fitting == [known]
    assert Weekend((plan("a", "a", 48.1), unknown), "Card", "").fitting == []


def test_a_table_whose_corpus_is_made_first_does_not_count_as_fitting() -> None:
    derived = replace(plan("a", "a", 1.0), derives=True)
    weekend = Weekend((plan("b", "b", 2.0), derived), "Card", "are a guess")
    assert [each.table.key for each in weekend.fitting] == ["b"]
    assert derived.shown_hours == "more than 1.0"
    assert weekend.sentence.endswith("A table of more hours than it states needs a derived corpus first.")


def test_a_night_has_the_systems_with_the_most_scores_for_an_hour_that_fit_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SimCSE has two scores for each cell, of two papers. Plans of several systems share half an hour."""
    monkeypatch.chdir(ROOT)
    tables = {key: build_one_table(key) for key in ("ptbert/table3", "dclr/table1")}
    hours = {"baselines/simcse": 6.0, "ptbert/pt-bert": 3.9, "dclr/dclr": 1.5}

    def known(names: Sequence[str], *rest: object) -> float | None:
        if not set(names) <= hours.keys():
            return None
        return sum(hours[name] for name in names) - 0.5 * (len(names) - 1)

    monkeypatch.setattr("harness.report.night._hours", known)
    night = night_of(tables, ["ptbert", "dclr"], load_recipes())
    assert night is not None
    assert [system.name for system in night.systems] == ["dclr/dclr", "baselines/simcse"]
    assert night.hours == 7.0
    assert known([*hours]) == 10.4 > NIGHT
    assert night.command == (
        "sentbench plan dclr/dclr baselines/simcse --backbone bert-base-uncased --seeds 5"
    )


def test_the_main_table_of_a_paper_tests_its_own_method(monkeypatch: pytest.MonkeyPatch) -> None:
    """PT-BERT's tables 1 and 2 have SimCSE alone; its table 3 has PT-BERT and SimCSE."""
    monkeypatch.chdir(ROOT)
    tables = {key: build_one_table(key) for key in ("ptbert/table1", "ptbert/table2", "ptbert/table3")}
    weekend = weekend_of(tables, ["ptbert"], load_recipes())
    assert weekend is not None
    assert [plan.table.key for plan in weekend.plans] == ["ptbert/table3"]
    assert len(weekend.plans[0].numbers) == 2 * 8  # the seven sets and their mean of two systems
    assert all(system.endswith(f"@{BACKBONE}") for system, *_ in weekend.plans[0].numbers)
    assert weekend.plans[0].command == "sentbench plan ptbert/table3 --backbone bert-base-uncased --seeds 5"
    assert weekend.plans[0].hours is not None
    assert weekend.plans[0].hours > 1
    assert weekend.gpu == "NVIDIA A100"
    assert weekend.basis.startswith("in fp32 are a guess, 50% of ")
    assert weekend_of(tables, ["pcl"], load_recipes()) is None
