"""A plan by `sentbench launch` and by `dvc repro`, each in a copy of its own where nothing is trained yet.

The short form runs a toy whose stages sleep; the long one the small plan of this project, from fetched data
on. It trains every run twice, so it is measured once, whatever the rounds. Both forms give a training one
thread: sums are taken in another order with another number, so only equal numbers give equal bytes.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from benchmarks.measurement import Disagreement, Result, alternate, summarised
from benchmarks.processes import output_of

ROOT = Path(__file__).parents[1]
LAUNCH = [sys.executable, "-m", "harness.cli", "launch"]
REPRO = [sys.executable, "-m", "dvc", "repro", "--all-pipelines"]
FORMS = {"launch": LAUNCH, "dvc repro, one thread": REPRO}
PREPARED = ("data", "backbone", "corpus", "fingerprint")
"""Stages that fetch and copy; what is measured comes after them."""
TOY_STAGES, TOY_SECONDS = 8, 0.5


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns the wall time of both forms; Disagreement unless they write the same dvc.lock."""
    with TemporaryDirectory() as folder:
        prepared = toy(Path(folder) / "prepared") if short else small_plan(Path(folder) / "prepared")
        copies = {name: Path(folder) / name for name in FORMS}
        for copy in copies.values():
            shutil.copytree(prepared, copy, symlinks=True)
        forms = {name: running(command, copies[name]) for name, command in FORMS.items()}
        times, rates = alternate(forms, rounds=1)
        agreement = agreed(*(copy / "dvc.lock" for copy in copies.values()))
    what = f"{TOY_STAGES} stages of {TOY_SECONDS} s" if short else "the small plan after its data are there"
    return [
        summarised(
            f"sentbench launch: {what}, {len(os.sched_getaffinity(0))} at once",
            times,
            rates,
            targets={},
            unit="s",
            agreement=agreement,
        )
    ]


def running(command: list[str], copy: Path) -> Callable[[], str]:
    """Returns a form of the benchmark: the command in its copy of the project."""
    code = copy if (copy / "harness").is_dir() else ROOT
    return lambda: output_of(["env", "OMP_NUM_THREADS=1", f"PYTHONPATH={code}", *command], copy)


def agreed(ours: Path, theirs: Path) -> str:
    """Returns what was compared; Disagreement if the two files of locks differ."""
    if ours.read_bytes() != theirs.read_bytes():
        raise Disagreement(f"{ours} and {theirs} differ, expected the same bytes from both forms")
    return "dvc.lock of launch and of dvc repro agree byte by byte"


def toy(folder: Path) -> Path:
    """Returns a DVC project of stages that sleep."""
    (folder / ".dvc").mkdir(parents=True)
    (folder / ".dvc/config").write_text(
        "[core]\n    analytics = false\n    no_scm = true\n", encoding="utf-8"
    )
    (folder / "params.yaml").write_text("plan: [toy]\n", encoding="utf-8")
    each = {
        "cmd": f"sleep {TOY_SECONDS} && cp params.yaml ${{item}}.txt",
        "deps": ["params.yaml"],
        "outs": ["${item}.txt"],
    }
    stages = {"toy": {"foreach": [f"s{number}" for number in range(TOY_STAGES)], "do": each}}
    (folder / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}), encoding="utf-8")
    return folder


def small_plan(folder: Path) -> Path:
    """Returns a clone of this project with the small plan, its data fetched and nothing trained."""
    output_of(["git", "clone", "--quiet", str(ROOT), str(folder)])
    here = ["env", f"PYTHONPATH={folder}"]
    output_of([*here, sys.executable, "-m", "harness.cli", "plan", "small"], folder)
    for stage in ("entries", *PREPARED):
        output_of([*here, sys.executable, "-m", "dvc", "repro", stage], folder)
    return folder
