"""The pipeline's own cost: a plan of everything, and `dvc repro` where nothing is to be done.

The no-op runs in a temporary copy whose outputs are stand-ins that `dvc commit` recorded, so no stage is ever
run; what is measured is reading the plan and comparing the state of every file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from benchmarks.measurement import Disagreement, Result, alternate, summarised

ROOT = Path(__file__).parents[1]
NOTHING_LIMIT, PLAN_LIMIT = 5.0, 10.0
STAGES, FEW_STAGES = 300, 30
COPIED = ("dvc.yaml", "harness", "methods", "leaderboards", "recipes")


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns the wall time of both commands."""
    with TemporaryDirectory() as folder:
        place, stages = planned_copy(Path(folder), FEW_STAGES if short else STAGES)
        dvc = [sys.executable, "-m", "dvc"]
        _run([*dvc, "commit", "--force", "--quiet"], place)
        told = _run([*dvc, "repro"], place)
        if "Running stage" in told or "up to date" not in told:
            raise Disagreement(f"dvc repro of a recorded state is not a no-op: {told.strip()[-300:]}")
        name = f"dvc repro of {stages} stages, nothing to do"
        plan = [sys.executable, "-m", "harness.cli", "plan", "small" if short else "all", "--dry-run"]
        forms = {name: lambda: _run([*dvc, "repro"], place), "plan": lambda: _run(plan, ROOT)}
        times, rates = alternate(forms, rounds=rounds)
    nothing = summarised(name, {name: times[name]}, rates, targets={}, unit="s")
    planning = summarised(
        f"sentbench {' '.join(plan[3:])}", {"plan": times["plan"]}, rates, targets={}, unit="s"
    )
    return [replace(nothing, limit=NOTHING_LIMIT), replace(planning, limit=PLAN_LIMIT)]


def planned_copy(folder: Path, wanted: int) -> tuple[Path, int]:
    """Returns a copy of the pipeline with a plan of about `wanted` stages, outputs made, and their number."""
    for name in COPIED:
        source = ROOT / name
        copy: Any = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    fixed = 1 + sum(
        len(params[part]) for part in ("sources", "backbones", "corpora", "code", "reads", "teachers")
    )
    originals = list(params["runs"].values())
    runs = max(1, (wanted - fixed) // 2)
    params["runs"] = {f"run{number}": originals[number % len(originals)] for number in range(runs)}
    (folder / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
    for command in (["git", "init", "--quiet"], [sys.executable, "-m", "dvc", "init", "--quiet"]):
        _run(command, folder)
    _run([sys.executable, "-m", "dvc", "config", "core.analytics", "false"], folder)
    for path in _outputs(params):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{path}\n", encoding="utf-8")
    return folder, fixed + 2 * runs


def _outputs(params: dict[str, Any]) -> list[str]:
    """Returns every output of the plan's stages, and the entries of dvc.yaml's report stage."""
    report = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]["report"]["outs"]
    paths = [next(iter(out)) if isinstance(out, dict) else out for out in report]
    paths += [f"{part}/{key}" for part in ("backbones", "corpora", "teachers") for key in params[part]]
    paths += [f"data/{key}" for key in params["sources"]]
    paths += [f".fingerprints/{key}.txt" for key in params["code"]]
    paths += [f".fingerprints/data-{key}.txt" for key in params["reads"]]
    for key in params["runs"]:
        paths += [
            f"artefacts/{key}",
            f"embeddings/{key}",
            f"reports/scores/{key}.json",
            f"reports/curves/{key}.jsonl",
        ]
    return paths


def _run(command: list[str], place: Path) -> str:
    settings = {**os.environ, "DVC_NO_ANALYTICS": "1"}
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False, env=settings)
    if done.returncode:
        raise Disagreement(
            f"{' '.join(command[:5])} ended with {done.returncode}: {done.stderr.strip()[-300:]}"
        )
    return done.stdout + done.stderr
