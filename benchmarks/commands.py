"""Whole commands: how soon those end that people wait for; a plan by `launch` and by `dvc repro`."""

from __future__ import annotations

import os
import shutil
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.runner import Disagreement, Side, output_of, run
from harness.report.measurements import BenchmarkResult

ROOT = Path(__file__).parents[1]
SENTBENCH, DVC = [sys.executable, "-m", "harness.cli"], [sys.executable, "-m", "dvc"]
STARTS = {
    "--help": 0.3,
    "list methods": 1.0,
    "plan all --dry-run": 3.0,
    "verify pcl/table2 SimCSE Avg": 0.5,
    "report": 4.0,
}
"""Arguments -> the most seconds, in a clone of this project with its committed results."""
LAUNCH_LIMIT, CHECK_LIMIT, TESTS_LIMIT = 600.0, 20.0, 240.0
IMPORTS = ("torch", "sentence_transformers", "mteb")
PREPARED = ("entries", "data", "backbone", "corpus", "fingerprint")
"""Stages that fetch and copy; what is measured of a launch comes after them."""
LAUNCHES = {"launch": [*SENTBENCH, "launch"], "dvc repro, one thread": [*DVC, "repro", "--all-pipelines"]}


def start(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the wall time of some commands, with that of importing large libraries for scale."""
    scale = {
        f"import {name}": partial(output_of, [sys.executable, "-c", f"import {name}"])
        for name in (IMPORTS[:1] if short else IMPORTS)
    }
    with TemporaryDirectory() as place:
        clone = cloned(Path(place) / "clone")
        here = ["env", f"PYTHONPATH={clone}", *SENTBENCH]
        sides = {f"sentbench {words}": partial(output_of, [*here, *words.split()], clone) for words in STARTS}
        runs = run({**sides, **scale}, rounds=rounds, warm=not short)
    peers = dict.fromkeys(scale)
    return [
        runs.result(name, name, peers, unit="s", limit=limit)
        for name, limit in zip(sides, STARTS.values(), strict=True)
    ]


def tests(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the wall time of `make test`, measured once and not in the short form."""
    if short:
        print("tests: left out, runs `make test`")
        return []
    runs = run({"make test": partial(output_of, ["make", "test"], ROOT)}, rounds=1, warm=False)
    return [runs.result("make test", "make test", {}, unit="s", limit=TESTS_LIMIT)]


def launch(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the wall time of the small plan by `sentbench launch` and by `dvc repro`, from fetched data on,
    and of `sentbench check` after it.

    It trains every run twice, so it is measured once, whatever the rounds, and not in the short form. A
    training has one thread in both, for only equal numbers of threads give equal bytes.
    Errors: Disagreement unless both write the same dvc.lock.
    """
    if short:
        print("launch: left out, trains the small plan twice")
        return []
    with TemporaryDirectory() as folder:
        prepared = small_plan(Path(folder) / "prepared")
        copies = {name: Path(folder) / name for name in LAUNCHES}
        for copy in copies.values():
            shutil.copytree(prepared, copy, symlinks=True)
        sides = {name: running(command, copies[name]) for name, command in LAUNCHES.items()}
        runs = run(sides, rounds=1, warm=False)
        agreement = agreed(*(copy / "dvc.lock" for copy in copies.values()))
        check = run({"sentbench check": running([*SENTBENCH, "check"], copies["launch"])}, rounds=1)
    name = (
        f"sentbench launch: the small plan after its data are there, {len(os.sched_getaffinity(0))} at once"
    )
    ours, theirs = LAUNCHES
    return [
        runs.result(name, ours, {theirs: None}, unit="s", limit=LAUNCH_LIMIT, agreement=agreement),
        check.result("sentbench check", "sentbench check", {}, unit="s", limit=CHECK_LIMIT),
    ]


def running(command: list[str], copy: Path) -> Side:
    """Returns the command in its copy of the project, with one thread a process."""
    return partial(output_of, ["env", "OMP_NUM_THREADS=1", f"PYTHONPATH={copy}", *command], copy)


def agreed(ours: Path, theirs: Path) -> str:
    """Returns what was compared; Disagreement if the two files of locks differ."""
    if ours.read_bytes() != theirs.read_bytes():
        raise Disagreement(f"{ours} and {theirs} differ, expected the same bytes from both forms")
    return "dvc.lock of launch and of dvc repro agree byte by byte"


def cloned(folder: Path) -> Path:
    """Returns a clone of this project."""
    output_of(["git", "clone", "--quiet", str(ROOT), str(folder)])
    return folder


def small_plan(folder: Path) -> Path:
    """Returns a clone of this project with the small plan, its data fetched and nothing trained."""
    cloned(folder)
    here = ["env", f"PYTHONPATH={folder}"]
    for command in ([*SENTBENCH, "plan", "small"], *([*DVC, "repro", stage] for stage in PREPARED)):
        output_of([*here, *command], folder)
    return folder
