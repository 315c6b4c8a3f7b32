"""Whole commands: their start, `dvc repro` with nothing to do, a plan by `launch` and by `dvc repro`."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from benchmarks.runner import Disagreement, Side, output_of, run
from harness.declarations import read_mapping
from harness.paths import ENTRIES
from harness.plan.entries import PARAMS, read_params
from harness.report.measurements import BenchmarkResult
from harness.stages.entries import write_entries

ROOT = Path(__file__).parents[1]
SENTBENCH, DVC = [sys.executable, "-m", "harness.cli"], [sys.executable, "-m", "dvc"]
REPRO = [*DVC, "repro", "--all-pipelines"]
NOTHING_LIMIT, PLAN_LIMIT = 5.0, 10.0
STARTS = {"sentbench --help": (["--help"], 0.3), "sentbench list methods": (["list", "methods"], 1.0)}
"""Arguments, and the most seconds."""
IMPORTS = ("torch", "sentence_transformers", "mteb")
STAGES, FEW_STAGES = 300, 30
FILES = 8
"""Files of a folder that a stage makes, as in an encoder's."""
COPIED = ("dvc.yaml", "harness", "methods", "leaderboards", "recipes")
PREPARED = ("entries", "data", "backbone", "corpus", "fingerprint")
"""Stages that fetch and copy; what is measured of a launch comes after them."""
LAUNCHES = {"launch": [*SENTBENCH, "launch"], "dvc repro, one thread": REPRO}
TOY_STAGES, TOY_SECONDS = 8, 0.5


def start(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the wall time of two commands, with that of importing large libraries for scale."""
    sides = {name: partial(output_of, [*SENTBENCH, *words]) for name, (words, _) in STARTS.items()}
    scale = {
        f"import {name}": partial(output_of, [sys.executable, "-c", f"import {name}"])
        for name in (IMPORTS[:1] if short else IMPORTS)
    }
    runs = run({**sides, **scale}, rounds=rounds)
    return [runs.result(name, name, *scale, unit="s", limit=limit) for name, (_, limit) in STARTS.items()]


def pipeline(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the wall time of `dvc repro` where nothing is to be done, and that of planning everything.

    The first runs in a temporary copy whose outputs are stand-ins that `dvc commit` recorded, so no stage is
    ever run; what is measured is reading the plan and comparing the state of every file.
    """
    plan = ["plan", "small" if short else "all", "--dry-run"]
    with TemporaryDirectory() as folder:
        place = Path(folder)
        stages = planned_copy(place, FEW_STAGES if short else STAGES)
        output_of([*DVC, "commit", "--force"], place)
        told = output_of(REPRO, place)
        if "Running stage" in told or "up to date" not in told:
            raise Disagreement(f"dvc repro of a recorded state is not a no-op: {told.strip()[-300:]}")
        sides = {
            "nothing": lambda: output_of(REPRO, place),
            "plan": lambda: output_of([*SENTBENCH, *plan], ROOT),
        }
        runs = run(sides, rounds=rounds, warm=False)
    name = f"dvc repro --all-pipelines of {stages} stages, nothing to do"
    return [
        runs.result(name, "nothing", unit="s", limit=NOTHING_LIMIT, note="all of it is DVC's own work"),
        runs.result(f"sentbench {' '.join(plan)}", "plan", unit="s", limit=PLAN_LIMIT),
    ]


def planned_copy(folder: Path, wanted: int) -> int:
    """Makes a copy of the pipeline with about `wanted` stages and all their files; returns how many."""
    from dvc.repo import Repo

    for name in COPIED:
        copy: Any = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    params = read_mapping(ROOT / PARAMS)
    fixed = 3 + sum(len(params[part]) for part in ("sources", "backbones", "corpora", "reads", "teachers"))
    params["runs"] = repeated(params["runs"], max(1, (wanted - fixed) // 2))
    (folder / PARAMS).write_text(json.dumps(params), encoding="utf-8")  # JSON is YAML, without its references
    for command in (["git", "init", "--quiet"], [*DVC, "init", "--quiet"]):
        output_of(command, folder)
    shutil.copy(ROOT / ".dvc/config", folder / ".dvc/config")
    write_entries(read_params(folder / PARAMS), folder / ENTRIES)
    index = Repo(str(folder)).index
    for path in {Path(item.fs_path) for item in (*index.outs, *index.deps)}:
        files = [path] if path.suffix else [path / f"file{number}" for number in range(FILES)]
        for file in files if not path.exists() else ():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{file.relative_to(folder)}\n", encoding="utf-8")
    return len(index.stages)


def repeated(runs: Mapping[str, dict[str, Any]], wanted: int) -> dict[str, dict[str, Any]]:
    """Returns so many runs: those of a plan, then copies of them under further names."""
    copies = range(-(-wanted // len(runs)))
    names = {f"{key}-{copy}" if copy else key: run for copy in copies for key, run in runs.items()}
    return dict(list(names.items())[:wanted])


def launch(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the wall time of a plan by `sentbench launch` and by `dvc repro`, each in a copy of its own.

    The short form runs a toy whose stages sleep, the long one the small plan of this project, from fetched
    data on: it trains every run twice, so it is measured once, whatever the rounds. A training has one thread
    in both, for only equal numbers of threads give equal bytes.
    Errors: Disagreement unless both write the same dvc.lock.
    """
    with TemporaryDirectory() as folder:
        prepared = toy(Path(folder) / "prepared") if short else small_plan(Path(folder) / "prepared")
        copies = {name: Path(folder) / name for name in LAUNCHES}
        for copy in copies.values():
            shutil.copytree(prepared, copy, symlinks=True)
        sides = {name: running(command, copies[name]) for name, command in LAUNCHES.items()}
        runs = run(sides, rounds=1, warm=False)
        agreement = agreed(*(copy / "dvc.lock" for copy in copies.values()))
    what = f"{TOY_STAGES} stages of {TOY_SECONDS} s" if short else "the small plan after its data are there"
    name = f"sentbench launch: {what}, {len(os.sched_getaffinity(0))} at once"
    return [runs.result(name, *LAUNCHES, unit="s", agreement=agreement)]


def running(command: list[str], copy: Path) -> Side:
    """Returns the command in its copy of the project, with one thread a process."""
    code = copy if (copy / "harness").is_dir() else ROOT
    return partial(output_of, ["env", "OMP_NUM_THREADS=1", f"PYTHONPATH={code}", *command], copy)


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
    for command in ([*SENTBENCH, "plan", "small"], *([*DVC, "repro", stage] for stage in PREPARED)):
        output_of([*here, *command], folder)
    return folder
