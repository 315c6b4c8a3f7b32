"""What `launch --dry-run` says about trainings: hours of each system, and results that need none."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from harness.commands import forecast
from harness.commands.forecast import hours_of, without_training
from harness.plan.estimate import Estimate
from harness.plan.hours import read_hours
from harness.plan.params_file import read_params
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve

ROOT = Path(__file__).parents[3]
SMALL = read_params(ROOT / "params.yaml")


class Cache(NamedTuple):
    """A pipeline whose cache has the outputs of some stages."""

    stages: frozenset[str] = frozenset()
    remotes: tuple[str, ...] = ()

    def is_recorded(self, name: str, known: Mapping[Path, str]) -> bool:
        return not known

    def is_cached(self, name: str) -> bool:
        return name in self.stages


def test_a_training_of_seconds_has_no_estimate_on_a_gpu() -> None:
    lines = hours_of(Estimate(SMALL, read_hours()), [*SMALL.runs], 2)
    assert lines[0].startswith("--on local, 2 runs at once on this machine's CPU: about ")
    assert lines[1].startswith("--on ray or slurm: no estimate for GPUs; on one, starting these trainings")
    assert not [line for line in lines if line.endswith(" s") and "GPU" in line]


def test_each_system_of_a_full_plan_has_its_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names = ["baselines/simcse", "pcl/pcl"]
    params = resolve(load_recipes(), names, seeds=5, backbones=["bert-base-uncased"])
    lines = hours_of(Estimate(params, read_hours()), [*params.runs], None)
    systems = [line for line in lines if line.startswith("  ")]
    assert [line.split("@")[0].strip() for line in systems] == ["simcse", "pcl"]
    for line in systems:
        assert "bert-base-uncased: 5 x " in line
        assert line.endswith((" min on a GPU", " h on a GPU"))


def test_hours_are_of_one_run_and_of_all_on_so_many_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three runs of half an hour and one of two: 3.5 h in all, the longest takes 2."""
    keys = [f"one__b__s{seed}" for seed in range(3)] + ["two__b__s0"]
    runs = {key: SimpleNamespace(id=key[:3], backbone_name="b") for key in keys}
    costs = {key: SimpleNamespace(cpu_hours=4.0, gpu_hours=2.0 if key[:3] == "two" else 0.5) for key in keys}
    estimate: Any = SimpleNamespace(
        params=SimpleNamespace(runs=runs), run=lambda run: next(costs[k] for k in keys if runs[k] is run)
    )
    monkeypatch.setattr(forecast, "packing", lambda keys: [])
    lines = hours_of(estimate, keys, 1)
    assert lines[1:] == [
        "--on ray or slurm, 1 runs at once on GPUs: about 3.5 h",
        "  one@b: 3 x 30 min on a GPU",
        "  two@b: 1 x 2.0 h on a GPU",
    ]
    (at_four,) = [line for line in hours_of(estimate, keys, 4) if "4 runs" in line and "GPUs" in line]
    assert at_four.endswith("about 2.0 h")


def test_results_in_the_cache_are_restored_and_committed_ones_can_be_pulled() -> None:
    keys = [f"simcse-small__words-50d__s{seed}" for seed in range(4)]
    runs = {key: SMALL.runs[key] for key in keys}
    cached = Cache(frozenset({f"train@{keys[0]}"}), ("lab",))
    restored, pulled, first = without_training(cached, runs, keys[:3], {})
    assert restored.startswith("1 of 4 trainings have their outputs in .dvc/cache: they are restored")
    assert pulled.startswith("2 of 4 trainings have committed results, but .dvc/cache lacks their encoders: ")
    assert "`dvc pull` gets them from lab" in pulled
    assert first == "--first-seeds trains 3 of them and leaves the other results as committed"
    (pulled,) = without_training(Cache(), {keys[0]: runs[keys[0]]}, keys, {})
    assert "gets them if you declare a remote that has them (docs/ecosystem.md, " in pulled
    assert not without_training(Cache(), runs, [], {})
    changed = {Path(".fingerprints/train/simcse.txt"): "other code"}
    assert not without_training(cached, runs, keys, changed)


def test_the_named_section_exists() -> None:
    assert "\n## Get all results without training\n" in (ROOT / "docs/ecosystem.md").read_text()
