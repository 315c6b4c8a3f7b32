"""A changed entry of params.yaml changes that entry's files and no other; the pipeline depends on these."""

import json
from pathlib import Path

from harness.paths import ENTRIES, FILE_RECORD
from harness.plan.entries import Params
from harness.plan.entry_files import entries_by_part, write_entries
from harness.plan.params_file import read_params
from tests.support.yaml_files import load_yaml

ROOT = Path(__file__).parents[3]
KEY = "simcse-small__words-50d__s0"


def written(params: Params, folder: Path) -> dict[str, bytes]:
    write_entries(params, folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.json")}


def small() -> Params:
    return read_params(ROOT / "params.yaml")


def test_every_entry_has_one_file_with_its_values(tmp_path: Path) -> None:
    params = small()
    files = written(params, tmp_path / "entries")
    parts = ("sources", "backbones", "corpora", "teachers", "reads", "runs", "runs", "further")
    assert len(files) == 2 + sum(len(getattr(params, part)) for part in parts) > 90
    assert json.loads(files["plan.json"]) == params.plan
    assert json.loads(files[f"runs/{KEY}.json"]) == params.runs[KEY].model_dump(exclude={"outputs"})


def test_a_run_that_is_gone_leaves_no_file(tmp_path: Path) -> None:
    params = small()
    fewer = params.model_copy(update={"runs": {k: run for k, run in params.runs.items() if k != KEY}})
    before, after = (written(plan, tmp_path / "entries") for plan in (params, fewer))
    assert before.keys() - after.keys() == {f"runs/{KEY}.json", f"evaluation/{KEY}.json"}
    assert [name for name in after if after[name] != before[name]] == [FILE_RECORD]


def test_every_stage_over_entries_depends_on_the_file_of_its_entry() -> None:
    stages = load_yaml((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    over = {name: stage for name, stage in stages.items() if "foreach" in stage}
    parts = {name: stage["foreach"].strip("${}") for name, stage in over.items()} | {"evaluate": "evaluation"}
    assert len(parts) == 8
    assert set(parts.values()) == entries_by_part(small()).keys()
    for name, part in parts.items():
        assert f"{ENTRIES}/{part}/${{key}}.json" in over[name]["do"]["deps"]
    assert not [name for name, stage in stages.items() if "params" in stage.get("do", stage)]
