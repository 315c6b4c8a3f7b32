"""The laptop plan: what it takes from other recipes, a row of every paper, done in a night on eight cores."""

from __future__ import annotations

from harness.facts.spec import load_specs
from harness.plan.estimate import Estimate, hours_at_once
from harness.plan.names import limited_tasks, select
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.plan.step_times import committed_step_times
from harness.tasks.registry import SELECTION, members

RECIPES = load_recipes()
NIGHT, CORES, THREADS = 12.0, 8, 2
"""`sentbench launch --jobs 4`: two threads a run, for one thread of CT takes longer than a night."""
STS = {"STS12", "STS13", "STS14", "STS15", "STS16", "STSB", "SICKR"}


def test_it_takes_a_night_on_eight_cores_by_the_committed_step_times() -> None:
    params = resolve(RECIPES, ["laptop"], tables=load_specs())
    estimate = Estimate(params, committed_step_times())
    costs = [estimate.run(run) for run in params.runs.values()]
    assert not params.teachers
    assert None not in costs
    hours = [cost.cpu_hours / THREADS for cost in costs if cost]
    assert max(hours) > NIGHT / 2
    assert hours_at_once(hours, CORES // THREADS) <= NIGHT


def test_every_system_is_in_a_table_and_every_paper_has_a_row() -> None:
    shown = [
        (key.partition("/")[0], (run.system, run.backbone))
        for key, spec in load_specs().items()
        for run in spec.choices()
    ]
    taken = [(one.system, name) for one in RECIPES["laptop"].takes for name in one.backbones]
    assert {run for _, run in shown} >= set(taken)
    assert {paper for paper, run in shown if run in taken} >= {"pcl", "dclr", "ptbert", "sct", "una"}


def test_its_runs_are_evaluated_on_the_sts_sets_and_on_what_selects_alone() -> None:
    params = resolve(RECIPES, ["laptop"], tables=load_specs())
    evaluated = {part for run in params.runs.values() for name in run.tasks for part in members(name)}
    assert STS <= evaluated <= STS | {"SICK-E"} | set(SELECTION)
    assert limited_tasks(RECIPES, ["laptop", "small"], {}) == {"laptop": RECIPES["laptop"].tasks}


def test_a_taken_system_has_the_first_of_its_seeds_and_the_backbones_that_are_named() -> None:
    found = select(RECIPES, ["laptop"], {})
    assert found["ct"].seeds == RECIPES["ct"].systems["ct"].seeds[:1]
    assert found["ct"].backbones == ["bert-base-uncased"]
    assert found["sct-simcse"].backbones == ["bert-tiny", "bert-mini"]
    assert found["sct-simcse"].seeds == RECIPES["sct"].systems["sct-simcse"].seeds
