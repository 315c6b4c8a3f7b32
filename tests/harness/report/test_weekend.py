"""A night and a weekend on one GPU: the chances are those of `verify`, the cost is that of `plan`."""

import re
from functools import cache
from pathlib import Path

import pytest

from harness.commands.plan import describe_plan
from harness.evidence.number_tests import LOOKS
from harness.evidence.published import load_published
from harness.paths import WEEKEND_PAGE
from harness.plan.hours import Cost
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.report.assembly.tables import build_one_table, build_tables, evidence_of, judged_in
from harness.report.gpu_time import (
    SPANS,
    Candidate,
    GpuPlan,
    candidates,
    chances_of_averages,
    fitting,
    gpu_plan,
)
from harness.report.hours import BACKBONE, main_tables
from harness.report.tables.model import Table

ROOT = Path(__file__).parents[3]
BASE = f"@{BACKBONE}"


@pytest.fixture(autouse=True)
def _root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@cache
def tables() -> dict[str, Table]:
    recipes = load_recipes()
    return build_tables(evidence_of([], recipes=recipes), recipes)


@cache
def planned(span: str) -> GpuPlan:
    found = gpu_plan(span, tables(), [*load_published().papers], load_recipes())
    assert found is not None
    return found


def candidate(name: str, chance: float, **hours: float) -> Candidate:
    return Candidate(name, 1, (chance,), {folder: Cost(spent) for folder, spent in hours.items()})


@pytest.mark.parametrize(
    ("system", "table", "row"),
    [
        ("simcse", "pcl/table2", "SimCSE"),  # its number is 1.10 from independent runs
        ("pt-bert", "ptbert/table3", "PT-BERT"),  # only its authors measured it
        ("mirror-bert", "pcl/table2", "mirror-bert"),
        ("sg-opt", "dclr/table1", "SG-OPT"),
    ],
)
def test_chances_equal_those_of_verify(system: str, table: str, row: str) -> None:
    """`verify` prints the chance by the advised look and by five seeds."""
    facts = chances_of_averages(tables(), [*load_published().papers])[system]
    compared = 0
    for judged in judged_in(table, row, "Avg"):
        if judged.fact not in facts:
            continue
        assert judged.plan is not None
        by = facts[judged.fact]
        odds = f"a chance of {by[judged.plan.seeds or 0]:.0%} if .*, {by[LOOKS[0]]:.0%} by 5 seeds; sd "
        assert re.search(odds.replace("%", " %"), judged.plan.why)
        compared += 1
    assert compared > 0


@pytest.mark.parametrize("span", SPANS)
def test_the_cost_is_the_total_of_the_command_and_fits(span: str) -> None:
    plan = planned(span)
    names = [system.name for system in plan.systems]
    assert plan.command == f"sentbench plan {' '.join(names)} --backbone {BACKBONE} --seeds {plan.seeds}"
    lines = describe_plan(resolve(load_recipes(), names, seeds=plan.seeds, backbones=[BACKBONE])).splitlines()
    total = next(line for line in lines if line.startswith("total")).split()
    assert float(total[3]) == pytest.approx(plan.cost.gpu_hours, abs=0.06)
    assert float(total[-2]) == pytest.approx(plan.cost.disk / 1e9, abs=0.006)
    assert int(total[1]) == sum(system.runs for system in plan.systems)
    assert plan.cost.gpu_hours <= {"night": 10, "weekend": 48}[span]
    assert all(system.cost.gpu_hours <= SPANS[span] for system in plan.left)
    assert not {system.name for system in plan.left} & {*names}


@pytest.mark.parametrize("span", SPANS)
def test_no_other_number_of_seeds_is_expected_to_settle_more(span: str) -> None:
    systems = chances_of_averages(tables(), [*load_published().papers])
    for look in LOOKS:
        others = fitting(candidates(systems, load_recipes(), look), SPANS[span])
        assert sum(sum(each.chances) for each in others) <= planned(span).expected


@pytest.mark.parametrize("span", SPANS)
def test_the_page_shows_the_plan_and_verifies_a_system_of_it(span: str) -> None:
    text = WEEKEND_PAGE.read_text(encoding="utf-8")
    assert planned(span).section() in text
    verified = re.search(r"sentbench verify (\S+) (\S+) Avg", text)
    assert verified is not None
    (judged,) = judged_in(verified[1], verified[2], "Avg")
    systems = chances_of_averages(tables(), [*load_published().papers])
    (system,) = (name for name, facts in systems.items() if judged.fact in facts)
    assert system in {each.name.partition("/")[2] for each in planned(span).systems}


def test_the_most_verdicts_for_an_hour_are_taken_first_and_what_does_not_fit_is_left() -> None:
    """A folder that two systems need counts once: 1 + 4 and 1 + 5 are ten hours together."""
    cheap, shared = candidate("a", 0.8, seeds=4.0, teacher=1.0), candidate("b", 0.6, own=5.0, teacher=1.0)
    long = candidate("c", 0.9, seeds=20.0)
    assert fitting([long, shared, cheap], 10.0) == [cheap, shared]
    assert fitting([shared, cheap], 9.9) == [cheap]


def test_a_system_without_an_even_chance_is_no_candidate() -> None:
    systems = {"mirror-bert": {("a", "Avg", 1.0): {5: 0.49, 10: 0.5}}}
    assert candidates(systems, load_recipes(), 5) == []
    assert [each.name for each in candidates(systems, load_recipes(), 10)] == ["mirror-bert/mirror-bert"]


def test_a_system_on_a_derived_corpus_is_no_candidate() -> None:
    systems = {"una-paraphrase": {("a", "Avg", 1.0): {5: 0.9}}, "dclr": {("b", "Avg", 1.0): {5: 0.9}}}
    found = candidates(systems, load_recipes(), 5)
    assert [each.name.partition("/")[2] for each in found] == ["dclr"]
    assert len(found[0].costs) == 2 * found[0].runs == 10  # a parent a seed


def test_tables_without_a_plan_have_none() -> None:
    assert gpu_plan("night", {}, ["pcl"], load_recipes()) is None


def test_the_main_table_of_a_paper_tests_its_own_method() -> None:
    """PT-BERT's tables 1 and 2 have SimCSE alone; its table 3 has PT-BERT and SimCSE."""
    some = {key: build_one_table(key) for key in ("ptbert/table1", "ptbert/table2", "ptbert/table3")}
    assert [table.key for table in main_tables(some, ["ptbert"])] == ["ptbert/table3"]
    found = chances_of_averages(some, ["ptbert"])
    assert {*found} == {"pt-bert", "simcse"}
    assert all(fact[0].endswith(BASE) for facts in found.values() for fact in facts)
