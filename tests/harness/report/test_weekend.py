"""A weekend on one GPU: the plans that fit one after the other, and the main table of each paper."""

from pathlib import Path

import pytest

from harness.plan.recipes import load_recipes
from harness.report.assembly.tables import build_one_table
from harness.report.tables.model import Table
from harness.report.weekend import BACKBONE, Weekend, WeekendPlan, weekend_of

ROOT = Path(__file__).parents[3]
GPUS = {"slow": ("Slow", "https://example.org/slow"), "fast": ("Fast", "")}


def plan(name: str, numbers: str, **hours: float | None) -> WeekendPlan:
    facts = frozenset((letter, "Avg", 1.0) for letter in numbers)
    return WeekendPlan(Table(name, name, (), ()), f"sentbench plan {name}", 1, facts, hours)


def test_the_plans_that_fit_are_run_one_after_the_other() -> None:
    """On the slow GPU 10 + 30 = 40 hours fit and 40 + 20 do not; on the fast one 5 + 20 + 20 = 45 do. The
    first two plans share the score b, so they judge three."""
    first, second = plan("a", "ab", slow=10.0, fast=5.0), plan("b", "bc", slow=30.0, fast=20.0)
    third = plan("c", "d", slow=20.0, fast=20.0)
    weekend = Weekend((first, second, third), GPUS)
    assert weekend.fitting("slow") == [first, second]
    assert weekend.numbers("slow") == 3
    assert weekend.fitting("fast") == [first, second, third]
    assert weekend.numbers("fast") == 4
    assert weekend.best == "fast"


def test_a_plan_of_unknown_cost_fits_nowhere() -> None:
    known, unknown = plan("a", "a", slow=48.0, fast=49.0), plan("b", "b", slow=None, fast=None)
    weekend = Weekend((known, unknown), GPUS)
    assert weekend.fitting("slow") == [known]
    assert weekend.fitting("fast") == []
    assert weekend.best == "slow"


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
    assert set(weekend.plans[0].hours) == set(weekend.gpus)
    assert weekend_of(tables, ["pcl"], load_recipes()) is None
