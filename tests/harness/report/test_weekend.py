"""A weekend on one GPU: the plans that fit one after the other, and the main table of each paper."""

from pathlib import Path

import pytest

from harness.plan.recipes import load_recipes
from harness.report.assembly.tables import build_one_table
from harness.report.hours import BACKBONE, Weekend, WeekendPlan, weekend_of
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
        "48 hours of one Card are enough for 2 of these 3 tables, which settle up to 3 reported scores. "
        "Hours are a guess."
    )
    assert weekend.section().splitlines()[-1] == "| c | `c --backbone bert-base-uncased` | 1 | 1 | 20.0 |"


def test_a_plan_of_unknown_cost_and_one_that_is_longer_than_a_weekend_do_not_fit() -> None:
    known, unknown = plan("a", "a", 48.0), plan("b", "b", None)
    assert Weekend((known, unknown), "Card", "").fitting == [known]
    assert Weekend((plan("a", "a", 48.1), unknown), "Card", "").fitting == []


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
