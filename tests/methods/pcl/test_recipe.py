"""recipes/pcl.yaml: every run resolves to settings that PCL accepts, and the presets are those tested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from methods.core.trainer import TrainConfig
from methods.pcl.config import PCLConfig
from tests.methods.pcl.sample import PAPER, RELEASED

RECIPE: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[3] / "recipes/pcl.yaml").read_text(encoding="utf-8")
)


def merged(run: dict[str, Any]) -> dict[str, Any]:
    resolved: dict[str, Any] = {}
    for layer in (*(RECIPE["blocks"][name] for name in run["use"]), run):
        for key, value in layer.items():
            resolved[key] = {**resolved.get(key, {}), **value} if key in ("train", "config") else value
    return resolved


RUNS = {run["id"]: merged(run) for run in RECIPE["runs"]}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_resolves_to_valid_settings(name: str) -> None:
    run = RUNS[name]
    config = PCLConfig.model_validate(run["config"])
    TrainConfig.model_validate(run["train"])
    assert run["backbones"]
    assert (config.coupling == "fixed") == ("parent" in run)
    assert len(RUNS) == len(RECIPE["runs"]) == 30


def test_the_presets_are_the_ones_the_conformance_kit_runs() -> None:
    assert RUNS["pcl"]["config"] == RELEASED
    assert RUNS["pcl-paper"]["config"] == PAPER


def test_tables_name_runs_and_leave_none_out() -> None:
    named = {name for table in RECIPE["tables"].values() for name in table}
    assert {name for name in named if not name.startswith("baselines/")} == set(RUNS)
    assert len(RECIPE["tables"]) == 8


def test_an_audit_run_turns_one_switch_of_the_released_preset() -> None:
    audits = [run for name, run in RUNS.items() if name.startswith("pcl-audit-")]
    assert len(audits) == 13
    for run in audits:
        turned = [key for key in RELEASED if run["config"][key] != RELEASED[key]]
        bigger = run["train"]["batch_size"] != RUNS["pcl"]["train"]["batch_size"]
        tied = ["coupling", "peer_head", "peer_attention_mask"]
        assert turned == tied if run["config"]["coupling"] == "tied" else len(turned) + bigger == 1
