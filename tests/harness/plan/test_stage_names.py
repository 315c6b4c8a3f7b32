"""The stages of a plan are those that dvc.yaml makes of params.yaml."""

from pathlib import Path

from harness.plan.params_file import read_params
from harness.plan.stage_names import stage_names
from tests.support.yaml_files import load_yaml

ROOT = Path(__file__).parents[3]


def test_every_stage_of_dvc_yaml_is_counted_once_for_each_entry_that_it_ranges_over() -> None:
    declared = load_yaml((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    params = read_params(ROOT / "params.yaml")
    assert params.further
    expected = set()
    for stage, content in declared.items():
        entries = content.get("foreach")
        ranged = getattr(params, entries[2:-1]) if entries else None
        expected |= {stage} if ranged is None else {f"{stage}@{key}" for key in ranged}
    names = stage_names(params)
    assert len(names) == len(set(names))
    assert set(names) == expected
