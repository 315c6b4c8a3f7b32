"""recipes/competitors.yaml: the presets, and a run behind every row of SCT's tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.facts.spec import load_specs
from harness.plan.recipes import Parent, load_recipes
from tests.methods.ckd.sample import ORIGINAL
from tests.methods.ckd.sample import RELEASED as CKD
from tests.methods.congen.sample import RELEASED as CONGEN

ROOT = Path(__file__).parents[3]
RECIPE = load_recipes(ROOT / "recipes")["competitors"]
RUNS = RECIPE.systems
TABLES = load_specs(ROOT / "leaderboards/tables")


def shown(table: str) -> list[str]:
    """Returns `system@backbone` of every run of this recipe that a table of SCT shows."""
    return sorted(str(run) for run in TABLES[f"sct/{table}"].choices() if run.system in RUNS)


def test_every_run_has_a_teacher_and_three_seeds() -> None:
    assert all(run.parent is not None and run.seeds == [0, 1, 2] for run in RUNS.values())
    assert len(RUNS) == 24


@pytest.mark.parametrize(("table", "runs"), [("table2", 8), ("table3", 6), ("table7", 12)])
def test_a_table_shows_each_of_its_runs_once(table: str, runs: int) -> None:
    assert len(shown(table)) == len(set(shown(table))) == runs


@pytest.mark.parametrize("table", ["table1", "table4", "table5", "table6", "fig2", "fig4"])
def test_no_other_table_or_figure_shows_these_methods(table: str) -> None:
    assert shown(table) == []


def test_every_run_is_in_a_table_or_in_the_audit() -> None:
    named = {run.partition("@")[0] for table in ("table2", "table3", "table7") for run in shown(table)}
    assert named | set(RECIPE.groups["audit"]) == set(RUNS)
    assert not named & set(RECIPE.groups["audit"])


def test_the_presets_are_the_ones_the_conformance_kit_runs() -> None:
    """Lengths and sizes aside: the kit's sentences are short and few, its first token has no pooler."""
    apart = {"max_length", "queue_size", "teacher_pooling", "student_vector"}
    for name, preset in (("congen-bert-tiny", CONGEN), ("ckd-bert-tiny", CKD), ("ckd-original", ORIGINAL)):
        config = RUNS[name].config
        assert config.keys() == preset.keys()
        assert {key for key in config if config[key] != preset[key]} <= apart


def test_a_run_that_starts_from_sct_starts_from_the_first_stage_of_its_backbone() -> None:
    started = [run for run in RUNS.values() if run.start is not None]
    assert len(started) == 6
    for run in started:
        assert run.variant == "plus-sct"
        assert run.start == Parent(run=f"sct-{run.backbones[0]}")


def test_an_audit_run_turns_one_switch_of_the_released_run() -> None:
    for name in RECIPE.groups["audit"][:-1]:
        run, base = RUNS[name], RUNS["congen-bert-tiny" if "congen" in name else "ckd-bert-tiny"]
        turned = [key for key in base.config if run.config[key] != base.config[key]]
        turned += ["parent"] if run.parent != base.parent else []
        tied = {"queue_start", "queue_seed"}, {"student_temperature", "queue_size"}
        assert len(turned) == 1 or set(turned) in tied
