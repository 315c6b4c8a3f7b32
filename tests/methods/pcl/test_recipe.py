"""recipes/pcl.yaml: its presets are those tested, and its audit turns one switch at a time."""

from __future__ import annotations

from pathlib import Path

from harness.facts.spec import load_specs
from harness.plan.recipes import load_recipes
from tests.methods.pcl.sample import PAPER, RELEASED

ROOT = Path(__file__).parents[3]
RECIPE = load_recipes(ROOT / "recipes")["pcl"]
RUNS = RECIPE.systems


def test_the_runs_with_a_fixed_peer_name_it() -> None:
    assert all((run.config["coupling"] == "fixed") == (run.parent is not None) for run in RUNS.values())
    assert len(RUNS) == 30


def test_the_presets_are_the_ones_the_conformance_kit_runs() -> None:
    """The recipe recomputes activations, which changes memory and no number."""
    assert RUNS["pcl"].config == {**RELEASED, "recompute": True}
    assert RUNS["pcl-paper"].config == {**PAPER, "recompute": True}


def test_every_run_is_in_a_table_or_in_the_audit() -> None:
    shown = {run.system for spec in load_specs().values() for run in spec.choices()}
    assert set(RUNS) - shown <= set(RECIPE.groups["audit"])
    assert shown & set(RUNS)


def test_an_audit_run_turns_one_switch_of_the_released_preset() -> None:
    audits = [run for name, run in RUNS.items() if name.startswith("pcl-audit-")]
    assert len(audits) == 13
    for run in audits:
        turned = [key for key in RELEASED if run.config[key] != RUNS["pcl"].config[key]]
        bigger = run.train["batch_size"] != RUNS["pcl"].train["batch_size"]
        tied = ["coupling", "peer_head", "peer_attention_mask"]
        assert turned == tied if run.config["coupling"] == "tied" else len(turned) + bigger == 1
