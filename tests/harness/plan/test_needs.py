"""Requirements of a plan besides data: found, or named in one line with a way to provide them."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch

from harness.cli import main
from harness.data.sources import SOURCES
from harness.plan import needs
from harness.plan.estimate import Estimate
from harness.plan.needs import Need, needs_of
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.plan.step_times import Cost, read_step_times

ROOT = Path(__file__).parents[3]
FindNeeds = Callable[..., dict[str, Need]]


class Usage(NamedTuple):
    free: float


@pytest.fixture
def find_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FindNeeds:
    """The needs of a plan by their first word, in a folder without data, mirror and GPU, with enough disk."""
    monkeypatch.chdir(tmp_path)
    for room in ("recipes", "leaderboards"):
        Path(room).symlink_to(ROOT / room)
    for name in ("SENTBENCH_MIRROR", "SENTBENCH_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(1e15))

    def of(*names: str) -> dict[str, Need]:
        params = resolve(load_recipes(), names, seeds=1)
        return {
            need.what.split()[0].strip(","): need
            for need in needs_of(params, Estimate(params, read_step_times()))
        }

    return of


def test_the_small_plan_needs_disk_alone(find_needs: FindNeeds) -> None:
    assert {what: need.met for what, need in find_needs("small").items()} == {"disk": True}


@pytest.mark.parametrize(("spare", "met"), [(0.0, True), (-1.0, False)])
def test_a_plan_needs_its_files_and_six_copies_of_the_largest_weights_in_fp32(
    spare: float, met: bool, find_needs: FindNeeds, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = resolve(load_recipes(), ["small"], seeds=1)
    estimate = Estimate(params, read_step_times())
    costs = [*(estimate.run(run) for run in params.runs.values()), estimate.teachers()]
    files = sum(cost.disk for cost in (*costs, estimate.data(), estimate.corpora()) if cost)
    shapes = [estimate.shape(run.backbone_name) for run in params.runs.values()]
    largest = max(shape.parameters for shape in shapes if shape)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(files + 6 * 4 * largest + spare))
    assert find_needs("small")["disk"].met == met


@pytest.mark.parametrize(
    ("plan", "source", "provide"),
    [
        ("sct/sct-aug-synonym-bert-tiny", "wordnet", "apt-get install wordnet-base"),
        ("sct/sct-bert-tiny", "askubuntu", "useb.downloading .* data-eval/askubuntu to .SENTBENCH_MIRROR"),
    ],
)
def test_a_source_without_a_download_is_searched_in_system_mirror_and_data(
    find_needs: FindNeeds,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    plan: str,
    source: str,
    provide: str,
) -> None:
    nowhere = SOURCES[source].providers.get("system")
    if nowhere:
        changed = {**SOURCES[source].providers, "system": nowhere.model_copy(update={"folder": "/nowhere"})}
        monkeypatch.setitem(SOURCES, source, SOURCES[source].model_copy(update={"providers": changed}))
    need = find_needs(plan)[source]
    assert not need.met
    assert need.line.startswith(f"{source}, not on the hub: not found; ")
    assert re.search(provide, need.line)

    folder = tmp_path / "mirror" / SOURCES[source].providers["mirror"].folder
    folder.mkdir(parents=True)
    monkeypatch.setenv("SENTBENCH_MIRROR", str(tmp_path / "mirror"))
    for file in SOURCES[source].files:
        assert not find_needs(plan)[source].met
        (folder / file).write_text("x")
    assert find_needs(plan)[source].state == str(folder)


def test_weeks_on_a_cpu_need_a_gpu_and_two_days_do_not(
    find_needs: FindNeeds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan for a night on eight cores takes less than a week on one."""
    monkeypatch.setattr("harness.plan.needs.cores_here", lambda: 2)
    assert "gpu" not in find_needs("laptop")
    assert not find_needs("pcl/pcl")["gpu"].met
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Card")
    need = find_needs("pcl/pcl")["gpu"]
    assert (need.met, need.line) == (True, "gpu: Card")


@pytest.mark.parametrize(
    ("cores", "hours", "needed"),
    [(1, 83.5, False), (1, 84.0, True), (4, 335.5, False), (4, 336.0, True), (4, 400.0, True)],
)
def test_the_hours_of_a_plan_are_shared_by_the_cores_of_this_machine(
    cores: int, hours: float, needed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs of 84 core hours are 168 on one core, a week; on four cores a week is two runs of 336.

    A plan of 800 core hours takes 200 on four cores.
    """
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    runs: Any = SimpleNamespace(runs={"a": "a", "b": "b"})
    estimate: Any = SimpleNamespace(run=lambda run: Cost(cpu_hours=hours))
    listed = list(needs._gpu(runs, estimate))
    assert [need.met for need in listed] == ([False] if needed else [])
    if hours == 400.0:
        assert listed[0].state == "no CUDA device, about 200 hours on this machine's cores without one"


def test_a_plan_names_the_needs_that_are_not_met(
    find_needs: FindNeeds, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_needs("small")["disk"].met
    assert main(["plan", "small", "--seeds", "1"]) == 0
    assert "missing" not in capsys.readouterr().out
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(1e6))
    assert main(["plan", "small", "--seeds", "1", "--dry-run"]) == 0
    assert f"missing {find_needs('small')['disk'].line}" in capsys.readouterr().out
