"""A changed entry of params.yaml changes that entry's files and no other; the pipeline depends on these."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from harness.paths import ENTRIES
from harness.plan.entries import Params, read_params
from harness.stages.entries import entries_by_part, write_entries

ROOT = Path(__file__).parents[3]
KEY = "simcse-small__words-50d__s0"


def written(params: Params, folder: Path) -> dict[str, bytes]:
    write_entries(params, folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.json")}


def changed(params: Params, other: Params, folder: Path) -> set[str]:
    """Files that differ; writing again removes the files of removed entries."""
    before, after = written(params, folder), written(other, folder)
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def small() -> Params:
    return read_params(ROOT / "params.yaml")


def with_run(params: Params, **changes: Any) -> Params:
    return params.model_copy(
        update={"runs": {**params.runs, KEY: params.runs[KEY].model_copy(update=changes)}}
    )


def test_every_entry_has_one_file_with_its_values(tmp_path: Path) -> None:
    params = small()
    files = written(params, tmp_path / "entries")
    parts = ("sources", "backbones", "corpora", "teachers", "reads", "runs", "runs")
    assert len(files) == 1 + sum(len(getattr(params, part)) for part in parts) > 90
    assert json.loads(files["plan.json"]) == params.plan
    assert json.loads(files[f"runs/{KEY}.json"]) == params.runs[KEY].model_dump()


def test_a_learning_rate_changes_the_file_of_one_run_and_not_its_evaluation(tmp_path: Path) -> None:
    params = small()
    train = {**params.runs[KEY].train, "learning_rate": 1.0e-7}
    assert changed(params, with_run(params, train=train), tmp_path / "entries") == {f"runs/{KEY}.json"}


def test_a_runs_tasks_change_its_evaluation(tmp_path: Path) -> None:
    params = small()
    found = changed(params, with_run(params, tasks=["SICKR"]), tmp_path / "entries")
    assert found == {f"runs/{KEY}.json", f"evaluation/{KEY}.json"}


def test_the_providers_change_the_sources_alone(tmp_path: Path) -> None:
    params = small()
    other = params.model_copy(update={"providers": ["hub"]})
    assert other.providers != params.providers
    assert changed(params, other, tmp_path / "entries") == {f"sources/{key}.json" for key in params.sources}


def test_a_run_that_is_gone_leaves_no_file(tmp_path: Path) -> None:
    params = small()
    fewer = params.model_copy(update={"runs": {k: run for k, run in params.runs.items() if k != KEY}})
    assert changed(params, fewer, tmp_path / "entries") == {f"runs/{KEY}.json", f"evaluation/{KEY}.json"}


def test_every_stage_over_entries_depends_on_the_file_of_its_entry() -> None:
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    over = {name: stage for name, stage in stages.items() if "foreach" in stage}
    parts = {name: stage["foreach"].strip("${}") for name, stage in over.items()} | {"evaluate": "evaluation"}
    assert len(parts) == 7
    assert set(parts.values()) == entries_by_part(small()).keys()
    for name, part in parts.items():
        assert f"{ENTRIES}/{part}/${{key}}.json" in over[name]["do"]["deps"]
    assert not [name for name, stage in stages.items() if "params" in stage.get("do", stage)]
