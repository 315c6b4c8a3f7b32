"""The processes of the local executor: initial state, visible device, and cleanup."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from multiprocessing import forkserver
from pathlib import Path

import pytest

from harness.launch import local
from harness.launch.libraries import LIBRARIES
from harness.launch.local import LocalExecutor, server_for, visible_gpus
from harness.launch.worker import Ended, Job, is_ours
from harness.process import PASSIVE, PORTABLE, REPLACED, set_native
from tests.harness.launch.toy_pipeline import wait_until_gone


@pytest.fixture
def executor() -> Iterator[LocalExecutor]:
    executor = LocalExecutor(2, preloaded=())
    yield executor
    executor.close()


def job(folder: Path, *commands: str, stage: str = "x") -> Job:
    return Job(stage, commands, folder, folder / "logs" / f"{stage}.log", {"OF_THE_STAGE": "yes"})


def all_of(executor: LocalExecutor, number: int) -> list[Ended]:
    ended: list[Ended] = []
    for _ in range(60):
        if len(ended) < number:
            ended += executor.wait(1.0)
    return ended


def output(folder: Path, stage: str = "x") -> list[str]:
    log = (folder / "logs" / f"{stage}.log").read_text()
    return [line for line in log.splitlines() if not line.startswith("== ")]


def test_a_job_ends_with_the_exit_code_of_its_first_command_that_fails(
    executor: LocalExecutor, tmp_path: Path
) -> None:
    executor.submit(job(tmp_path, "sentbench list methods"))
    executor.submit(job(tmp_path, "sentbench list nothing-known", stage="y"))
    executor.submit(job(tmp_path, "echo one", "sh -c 'exit 4'", "echo two", stage="z"))
    ended = sorted((ended.stage, ended.code) for ended in all_of(executor, 3))
    assert ended == [("x", 0), ("y", 2), ("z", 4)]
    assert any(line.startswith("simcse") for line in output(tmp_path))
    assert "nothing-known" in output(tmp_path, "y")[-1]
    assert output(tmp_path, "z") == ["one"]


@pytest.mark.parametrize("error", [EOFError("unexpected EOF"), ConnectionResetError("reset")])
def test_a_work_that_the_killed_server_did_not_start_has_ended_and_can_be_submitted_again(
    executor: LocalExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def unanswered(socket: int) -> int:
        raise error

    with monkeypatch.context() as killed:
        killed.setattr(forkserver, "read_signed", unanswered)
        executor.submit(job(tmp_path, "true"))
    assert [(ended.stage, ended.code) for ended in executor.wait(1.0)] == [("x", None)]
    executor.submit(job(tmp_path, "true"))
    assert all_of(executor, 1) == [Ended("x", 0)]


def test_a_worker_waits_asleep_with_its_share_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a worker that restarts for native arithmetic; the user's settings stay."""
    for name in (*PORTABLE, REPLACED):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(local.os, "sched_getaffinity", lambda _: set(range(16)))
    monkeypatch.setattr(local.forkserver, "ensure_running", lambda: None)
    for slots, given, threads in ((3, None, "5"), (16, None, "1"), (32, None, "1"), (3, "7", "7")):
        if given:
            monkeypatch.setenv("OMP_NUM_THREADS", given)
        with server_for(slots):
            settings = dict(os.environ)
        assert settings.items() >= (PORTABLE | PASSIVE).items()
        set_native(settings)
        assert settings.items() >= {**PASSIVE, "OMP_NUM_THREADS": threads}.items()
        assert "OPENBLAS_CORETYPE" not in {**settings, **os.environ}


LAUNCH = """
from pathlib import Path
from harness.launch.local import LocalExecutor
from harness.launch.worker import Job
folder = Path.cwd()
if __name__ == "__main__":
    executor = LocalExecutor(1, preloaded=["numpy"])
    command = "sentbench evaluate nowhere --arithmetic native"
    executor.submit(Job("x", (command,), folder, folder / "logs/x.log", {}))
    (ended,) = executor.wait(60.0)
    executor.close()
    print(ended.code)
"""
SEEN = """
import json, os, sys
if "nowhere" in sys.orig_argv:
    with open("seen.json", "w") as file:
        json.dump({"words": sys.orig_argv, "environment": dict(os.environ)}, file)
"""


def test_a_worker_forked_portably_is_replaced_by_a_native_process(tmp_path: Path) -> None:
    """The server has loaded NumPy with portable variables; a native command starts again without them.

    A separate server, because this process may already have one.
    """
    (tmp_path / "sitecustomize.py").write_text(SEEN)
    (tmp_path / "launch.py").write_text(LAUNCH)
    settings = {name: value for name, value in os.environ.items() if name not in {*PORTABLE, REPLACED}}
    settings |= {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "launch.py"], cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["words"][-3:] == ["nowhere", "--arithmetic", "native"]
    assert seen["environment"]["OMP_NUM_THREADS"] == "2"
    assert not (PORTABLE.keys() - {"OMP_NUM_THREADS"}) & seen["environment"].keys()
    assert output(tmp_path)[-1].startswith("sentbench: nowhere: no such folder")


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_module_that_the_server_imports_exists(name: str) -> None:
    """The server skips modules that it cannot import."""
    assert find_spec(name)


FORKED = """
import os, sys, threading
from harness.process import set_portable
set_portable(os.environ)
before = set(sys.modules)
import harness.launch.libraries
import torch
ours = [name for name in set(sys.modules) - before if name.startswith(("harness.", "methods."))]
print(sorted(ours), len(os.listdir("/proc/self/task")), threading.active_count(), torch.cuda.is_initialized())
"""


def test_the_server_has_one_thread_no_gpu_and_no_code_of_this_project() -> None:
    """Every stage imports the code as it is in the files when the stage starts."""
    settings = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", FORKED]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=300)
    ours = ["harness.launch", "harness.launch.libraries"]
    assert done.stdout == f"{ours} 1 1 False\n", done.stderr


def test_each_slot_has_a_gpu_and_stages_without_a_network_have_none(tmp_path: Path) -> None:
    executor = LocalExecutor(2, ["4", "GPU-x"], preloaded=())
    show = "printenv CUDA_VISIBLE_DEVICES"
    executor.submit(job(tmp_path, show, stage="train@a"))
    executor.submit(job(tmp_path, show, stage="evaluate@a"))
    all_of(executor, 2)
    executor.submit(job(tmp_path, show, stage="data@a"))
    all_of(executor, 1)
    executor.close()
    shown = [output(tmp_path, stage) for stage in ("train@a", "evaluate@a", "data@a")]
    assert shown == [["4"], ["GPU-x"], [""]]
    assert "GPU GPU-x" in (tmp_path / "logs/evaluate@a.log").read_text()


def test_gpus_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, 5")
    assert visible_gpus() == ["3", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert visible_gpus() == []


LISTS = 'echo "GPU 0: NVIDIA A10 (UUID: GPU-a)"; echo "GPU 1: NVIDIA A10 (UUID: GPU-b)"'


@pytest.mark.parametrize(
    ("command", "hidden", "expected"),
    [
        (LISTS, None, ["0", "1"]),
        (LISTS, "1", ["1"]),
        (LISTS, "", []),  # there are two, and this process may use none
        ("echo 'NVIDIA-SMI has failed'; exit 9", None, []),
        ("true", None, []),
        (None, None, []),
    ],
)
def test_gpus_are_those_that_the_driver_lists_unless_they_are_hidden(
    command: str | None,
    hidden: str | None,
    expected: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A command called nvidia-smi stands for the driver's."""
    if command is not None:
        (tmp_path / "nvidia-smi").write_text(f'#!/bin/sh\n[ "$1" = --list-gpus ] || exit 2\n{command}\n')
        (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden or "")
    if hidden is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert visible_gpus() == expected


def test_children_of_a_killed_command_end_with_it(executor: LocalExecutor, tmp_path: Path) -> None:
    executor.submit(job(tmp_path, "sleep 60 & echo $! > child; kill -9 $$"))
    assert all_of(executor, 1) == [Ended("x", None, "ended by signal 9")]
    wait_until_gone(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize(
    ("commands", "ours"),
    [
        (["sentbench stage train x --out artefacts/x --resume"], True),
        (["sentbench list runs > file"], False),
        (["python train.py"], False),
        (
            ["sentbench stage entries", "sentbench stage fingerprint"],
            False,
        ),
    ],
)
def test_a_single_command_of_this_project_is_the_forked_process(commands: list[str], ours: bool) -> None:
    assert is_ours(commands) is ours
