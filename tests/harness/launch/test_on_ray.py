"""Stages on a Ray cluster of two simulated nodes."""

import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cli import main
from harness.errors import InputError
from harness.launch import on_ray
from harness.launch.on_ray import gpus_of
from harness.launch.worker import Job
from tests.harness.launch.toy_pipeline import (
    repro,
    runs,
    stage,
    start_launch,
    wait_for,
    wait_until_gone,
    with_trainings,
    write_pipeline,
)


def test_a_stage_takes_a_gpu_if_available_and_unavailable_resources_are_refused() -> None:
    nodes = [
        {"Alive": True, "Resources": {"CPU": 4.0}},
        {"Alive": False, "Resources": {"CPU": 64.0, "GPU": 8.0}},
    ]
    assert gpus_of(nodes, 4, None) == 0
    with pytest.raises(InputError, match="takes 8 CPUs and 0 GPUs, a node at most 4 and 0"):
        gpus_of(nodes, 8, None)
    with pytest.raises(InputError, match=r"takes 1 CPUs and 0\.5 GPUs"):
        gpus_of(nodes, 1, 0.5)
    nodes[1]["Alive"] = True
    assert gpus_of(nodes, 4, None) == 1
    assert gpus_of(nodes, 4, 0.25) == 0.25


@pytest.mark.parametrize(
    ("ids", "visible", "where"),
    [([1, 3], "1,3", "GPU 1,3"), ([2], "2", "GPU 2"), ([], "", "GPU none")],
)
def test_a_stage_sees_the_gpus_that_ray_gives_it_and_a_jobs_own_setting_comes_first(
    ids: list[int], visible: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module in Ray's place gives the numbers of GPUs of a node."""
    context = SimpleNamespace(get_node_id=lambda: "0123456789abcdef")
    given = SimpleNamespace(get_gpu_ids=lambda: ids, get_runtime_context=lambda: context)
    ran: list[tuple[Job, str]] = []
    monkeypatch.setitem(sys.modules, "ray", given)
    monkeypatch.setattr(os, "setsid", lambda: None)
    monkeypatch.setattr(on_ray, "run_commands", lambda job, node, scheduler: ran.append((job, node)) or 7)
    monkeypatch.chdir(tmp_path)
    job = Job("train@a", ("true",), tmp_path, tmp_path / "log", {"OMP_WAIT_POLICY": "active"})
    assert on_ray.run_on_node(job, threads=5) == 7
    (started, node), *_ = ran
    assert node == f"Ray node 01234567, {where}"
    assert started.environment["CUDA_VISIBLE_DEVICES"] == visible
    assert started.environment["OMP_NUM_THREADS"] == "5"
    assert started.environment["OMP_WAIT_POLICY"] == "active"


def test_every_option_of_a_launch_arrives_at_ray(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A module in Ray's place; of 7 processors two stages of 3 run at once, unless jobs are stated."""
    asked: dict[str, Any] = {}
    node = {"Alive": True, "Resources": {"CPU": 7.0, "GPU": 1.0}}
    remote = SimpleNamespace(remote=lambda *given: asked.update(given=given))
    ray = SimpleNamespace(
        init=lambda **options: asked.update(options),
        nodes=lambda: [node],
        cluster_resources=lambda: node["Resources"],
        remote=lambda function: SimpleNamespace(options=lambda **options: asked.update(options) or remote),
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    executor = on_ray.RayExecutor("head:1", None, 3.0, 0.25)
    assert (asked["address"], executor.slots) == ("head:1", 2)
    assert on_ray.RayExecutor(None, 5, 3.0, None).slots == 5
    assert asked["address"] == "local"
    for stage_name, gpus in (("train@a", 0.25), ("report", 0)):
        job = Job(stage_name, ("true",), tmp_path, tmp_path / "log")
        executor.submit(job)
        shown = {name: asked[name] for name in ("num_cpus", "num_gpus", "name", "max_retries")}
        assert shown == {"num_cpus": 3.0, "num_gpus": gpus, "name": stage_name, "max_retries": 0}
        assert asked["given"] == (job, 3)


@pytest.fixture
def cluster() -> Iterator[Any]:
    pytest.importorskip("ray", reason="Ray is not installed: the extra launch-ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    yield cluster
    cluster.shutdown()


@pytest.mark.cluster
def test_stages_on_ray_are_recorded_as_by_a_serial_repro(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without an address Ray runs on this machine; no stage gets a GPU here, so none is visible."""
    pytest.importorskip("ray", reason="Ray is not installed: the extra launch-ray")
    stages = {
        "a": stage("a", command='test "$(printenv CUDA_VISIBLE_DEVICES || echo unset)" = ""'),
        "b": stage("b", ("a.txt",)),
        "bad": stage("bad", ("a.txt",), "exit 3"),
    }
    monkeypatch.chdir(write_pipeline(tmp_path / "toy", stages))
    assert main(["launch", "--on", "ray", "--cpus-per-run", "0.5"]) == 1
    assert "failed: bad: exit code 3" in capsys.readouterr().err
    assert sorted(runs(Path())) == ["a", "b", "bad"]
    serial = write_pipeline(tmp_path / "serial", {name: stages[name] for name in ("a", "b")})
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    repro(serial)
    assert Path("dvc.lock").read_bytes() == (serial / "dvc.lock").read_bytes()


@pytest.mark.cluster
def test_a_run_whose_node_is_killed_resumes_on_the_other_and_ends_with_the_same_bytes(
    tmp_path: Path, cluster: Any
) -> None:
    folder = with_trainings(tmp_path / "toy", "ab")
    first, _ = cluster.add_node(num_cpus=1), cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    launch = start_launch(folder, "--on", "ray", "--address", cluster.address)
    for key in "ab":
        wait_for(folder / f"starts-{key}")
    wait_for(folder / "state-a")
    time.sleep(0.5)
    cluster.remove_node(first, allow_graceful=False)
    _, errors = launch.communicate(timeout=120)
    assert launch.returncode == 0, errors
    starts = {key: [int(step) for step in (folder / f"starts-{key}").read_text().split()] for key in "ab"}
    assert sorted(map(len, starts.values())) == [1, 2]
    assert min(max(steps) for steps in starts.values()) == 0
    assert max(max(steps) for steps in starts.values()) > 0
    serial = with_trainings(tmp_path / "serial", "ab")
    repro(serial)
    assert (folder / "dvc.lock").read_bytes() == (serial / "dvc.lock").read_bytes()
    retried = max(starts, key=lambda key: len(starts[key]))
    log = (folder / f".cache/launch/train@{retried}.log").read_text()
    assert len(set(re.findall(r"== attempt \d on .*, Ray node (\w+)", log))) == 2


@pytest.mark.cluster
def test_a_killed_scheduler_leaves_no_process_on_any_node(tmp_path: Path, cluster: Any) -> None:
    slow = stage("slow", command="echo $$ > process; sleep 60 & echo $! > child; wait")
    folder = write_pipeline(tmp_path / "toy", {"slow": slow})
    cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    launch = start_launch(folder, "--on", "ray", "--address", cluster.address)
    wait_for(folder / "child")
    launch.send_signal(signal.SIGKILL)
    launch.wait()
    started = [int((folder / name).read_text()) for name in ("process", "child")]
    wait_until_gone(*started)
    assert launch.returncode == -signal.SIGKILL
