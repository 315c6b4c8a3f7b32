"""The ablation: every step differs from the declared run in one choice, and plans resolve it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.declarations import check_name
from harness.plan.checks import check_runs
from harness.plan.names import MARK, ablation_systems, changes_of
from harness.plan.recipes import System, declared_systems, load_recipes, merge
from harness.plan.resolve import resolve

ROOT = Path(__file__).parents[3]
ENTRY: dict[str, Any] = {
    "id": "run", "backbones": ["minilm-l2"], "corpus": "wiki-small", "tasks": ["STSB"],
    "method": "simcse", "variant": "released", "pooling": "cls", "text": "senteval", "seeds": [0],
    "config": {"max_length": 32, "temperature": 0.05},
    "train": {
        "steps": 10, "weight_decay": 0.0, "max_grad_norm": 1.0, "precision": "fp32", "eval_every": 125,
        "drop_last": True,
    },
}  # fmt: skip


def leaves(entry: Any, place: str = "") -> dict[str, Any]:
    """Returns every value of nested settings by its dotted place."""
    if not isinstance(entry, dict):
        return {place: entry}
    return {
        key: value
        for name, inner in entry.items()
        for key, value in leaves(inner, f"{place}.{name}" if place else name).items()
    }


def changed(**settings: Any) -> System:
    return System.model_validate(merge(ENTRY, settings))


def test_each_step_changes_exactly_one_choice_and_is_named_in_id_and_variant() -> None:
    declared = leaves(changed().model_dump())
    found = {}
    for system, entry in ablation_systems(changed()).items():
        found[system] = {
            key: value for key, value in leaves(entry.model_dump()).items() if declared[key] != value
        }
        assert found[system].pop("id", "run") == system
        assert found[system].pop("variant", "released") == system.replace("run", "released", 1)
    assert {system.removeprefix("run-ablation-"): differences for system, differences in found.items()} == {
        "run": {},
        "static-layer": {"pooling": "static-last-avg"},
        "first-layer": {"pooling": "first-last-avg"},
        "weight-decay": {"train.weight_decay": 0.01},
        "clipping": {"train.max_grad_norm": None},
        "precision": {"train.precision": "bf16"},
        "eval-interval": {"train.eval_every": 250},
        "drop-last": {"train.drop_last": False},
        "max-length": {"config.max_length": 64},
        "text": {"text": "raw"},
    }


@pytest.mark.parametrize(
    ("settings", "step", "value"),
    [
        ({"pooling": "static-last-avg"}, "first-layer", "first-last-avg"),
        ({"pooling": "static-last-avg"}, "static-layer", None),
        ({"train": {"weight_decay": 0.1}}, "weight-decay", 0.0),
        ({"train": {"max_grad_norm": None}}, "clipping", 1.0),
        ({"train": {"precision": "bf16"}}, "precision", "fp32"),
        ({"train": {"eval_every": 250}}, "eval-interval", 125),
        ({"train": {"eval_every": 20}}, "eval-interval", 40),
        ({"train": {"drop_last": False}}, "drop-last", True),
        ({"config": {"max_length": 128}}, "max-length", 32),
        ({"text": "raw"}, "text", "senteval"),
    ],
)
def test_a_choice_made_otherwise_is_turned_back(settings: dict[str, Any], step: str, value: Any) -> None:
    found = {change.step: change.changed for change in changes_of(changed(**settings))}
    assert found.get(step) == value


def test_untrained_word_vectors_have_the_text_rung_alone() -> None:
    bare = changed(pooling=None, train={"steps": 0})
    assert [change.step for change in changes_of(bare)] == ["text"]


def test_every_declared_run_has_an_ablation_that_resolves_and_validates() -> None:
    recipes = load_recipes(ROOT / "recipes")
    for system in ("dclr-small", "glove-small", "pcl"):
        params = resolve(recipes, [f"ablation/{system}"], seeds=1, folder=ROOT / "recipes")
        check_runs(params)
        own = [run for run in params.runs.values() if run.id.split(MARK)[0] == system]
        assert len(own) == len({(run.variant, run.backbone) for run in own}) >= 2
        if system == "dclr-small":
            assert params.providers == ["embedded"]
            change = params.run("dclr-small-ablation-clipping__words-50d__s0")
            assert change.parent == "artefacts/simcse-small__words-50d__s0"
    for system, entry in declared_systems(recipes).items():
        for name, change_of in ablation_systems(entry).items():
            assert change_of.id == check_name(name)
            assert name.startswith(system)
