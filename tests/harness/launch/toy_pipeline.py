"""Small DVC pipelines of shell commands, and launches of them; a file unknown to DVC counts the runs."""

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any

import psutil

from tests.support.yaml_files import dump_yaml

ROOT = Path(__file__).parents[3]
RUNS = "runs.txt"
"""Each stage of a toy appends its name to this file when it runs; DVC does not know the file."""
TRAINING = """
import fcntl, pathlib, sys, time
key = sys.argv[1]
state, live = pathlib.Path(f"state-{key}"), open(f"live-{key}", "w")
fcntl.flock(live, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a second live process of a key fails
step = int(state.read_text()) if state.exists() else 0
with open(f"starts-{key}", "a") as file:
    file.write(f"{step}\\n")
while step < 80:
    time.sleep(0.05)
    step += 1
    state.with_suffix(".part").write_text(str(step))
    state.with_suffix(".part").replace(state)
pathlib.Path(f"{key}.txt").write_text(f"trained {key} for {step} steps\\n")
"""


def stage(name: str, needs: tuple[str, ...] = ("source.txt",), command: str = "true") -> dict[str, Any]:
    """Returns a stage that records its run, runs a command and writes NAME.txt from its inputs."""
    lines = [f"echo {name} >> {RUNS}", command, f"cat {' '.join(needs)} > {name}.txt"]
    return {"cmd": " && ".join(lines), "deps": list(needs), "outs": [f"{name}.txt"]}


def write_pipeline(folder: Path, stages: Mapping[str, Any]) -> Path:
    """Writes a DVC project with these stages and the file source.txt into a new folder, and returns it."""
    (folder / ".dvc/tmp").mkdir(parents=True)
    (folder / ".dvc/config").write_text("[core]\n    analytics = false\n    no_scm = true\n")
    (folder / "params.yaml").write_text("plan:\n- toy\n")
    (folder / "source.txt").write_text("words\n")
    (folder / "dvc.yaml").write_text(dump_yaml({"stages": dict(stages)}, sort_keys=False))
    return folder


def with_trainings(folder: Path, keys: str) -> Path:
    """Returns a project with trainings of 4 s, which resume and refuse a second process of their key."""
    command = f"{sys.executable} train.py ${{item}}"
    each = {"cmd": command, "deps": ["train.py"], "outs": ["${item}.txt"]}
    write_pipeline(folder, {"train": {"foreach": list(keys), "do": each}})
    (folder / "train.py").write_text(TRAINING)
    return folder


def runs(folder: Path) -> list[str]:
    """Returns the stages that ran, in the order in which they began."""
    path = folder / RUNS
    return path.read_text().split() if path.is_file() else []


def start_launch(
    folder: Path, *words: str, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Starts `sentbench launch` as a separate process in a new session."""
    return subprocess.Popen(
        [sys.executable, "-m", "harness.cli", "launch", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def repro(folder: Path) -> list[str]:
    """Runs all stages one after another, as `dvc repro` does, and returns those that had changed."""
    from dvc.logger import set_loggers_level
    from dvc.repo import Repo

    quiet = set_loggers_level(logging.WARNING)  # its log may go to a stream that a test closed
    with chdir(folder), quiet, Repo() as project:
        return [actual.addressing for actual in project.reproduce(all_pipelines=True)]


def wait_until(happens: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Waits for a condition; fails with `what` after some time."""
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def wait_for(path: Path) -> None:
    """Waits until a file exists and is not empty."""
    wait_until(lambda: path.is_file() and path.read_text(), f"{path} did not appear")


def wait_until_gone(*processes: int) -> None:
    """Waits until all of these processes are gone or zombies."""

    def are_gone() -> bool:
        left = [actual for actual in psutil.process_iter() if actual.pid in processes]
        return all(actual.status() == psutil.STATUS_ZOMBIE for actual in left)

    wait_until(are_gone, f"one of {processes} lives on", 20)
