"""The pipeline's own cost: a plan of everything, and `dvc repro` where nothing is to be done.

The no-op runs in a temporary copy whose outputs are stand-ins that `dvc commit` recorded, so no stage is ever
run; what is measured is reading the plan and comparing the state of every file.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from benchmarks.measurement import Disagreement, Result, alternate, summarised
from benchmarks.processes import output_of
from harness.declarations import read_mapping
from harness.paths import ENTRIES
from harness.plan.entries import PARAMS, read_params
from harness.stages.entries import write_entries
from methods.registry import METHODS

ROOT = Path(__file__).parents[1]
NOTHING_LIMIT, PLAN_LIMIT = 5.0, 10.0
OF_DVC = (
    "all of it is DVC's own work; in a profile reading plan and lock takes 42 %, half of it saved by "
    "--all-pipelines, the file of its read-write locks 23 %, the state of the files 22 %"
)
STAGES, FEW_STAGES = 300, 30
FILES = 8
"""Files of a folder that a stage makes, as in an encoder's."""
ARTEFACTS, ORIGINS = "artefacts/", ("backbone", "parent")
"""How a run names another run as what it trains from, and the entries that may do so."""
COPIED = ("dvc.yaml", "harness", "methods", "leaderboards", "recipes")


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns the wall time of both commands."""
    with TemporaryDirectory() as folder:
        place, stages = planned_copy(Path(folder), FEW_STAGES if short else STAGES)
        dvc = [sys.executable, "-m", "dvc"]
        output_of([*dvc, "commit", "--force"], place)
        repro = [*dvc, "repro", "--all-pipelines"]
        told = output_of(repro, place)
        if "Running stage" in told or "up to date" not in told:
            raise Disagreement(f"dvc repro of a recorded state is not a no-op: {told.strip()[-300:]}")
        name = f"{' '.join(repro[2:])} of {stages} stages, nothing to do"
        plan = [sys.executable, "-m", "harness.cli", "plan", "small" if short else "all", "--dry-run"]
        forms = {name: lambda: output_of(repro, place), "plan": lambda: output_of(plan, ROOT)}
        times, rates = alternate(forms, rounds=rounds)
    nothing = summarised(name, {name: times[name]}, rates, targets={}, unit="s", note=OF_DVC)
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
    params = read_mapping(ROOT / PARAMS)
    fixed = len(("entries", "fingerprint", "report")) + sum(
        len(params[part]) for part in ("sources", "backbones", "corpora", "reads", "teachers")
    )
    params["runs"] = repeated(params["runs"], max(1, (wanted - fixed) // 2))
    (folder / PARAMS).write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
    for command in (["git", "init", "--quiet"], [sys.executable, "-m", "dvc", "init", "--quiet"]):
        output_of(command, folder)
    shutil.copy(ROOT / ".dvc/config", folder / ".dvc/config")
    write_entries(read_params(folder / PARAMS), folder / ENTRIES)
    for path in _outputs(params):
        files = [path] if Path(path).suffix else [f"{path}/file{number}" for number in range(FILES)]
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"{name}\n", encoding="utf-8")
    return folder, fixed + 2 * len(params["runs"])


def repeated(runs: Mapping[str, dict[str, Any]], wanted: int) -> dict[str, dict[str, Any]]:
    """Returns at most `wanted` runs: the plan's own over and over, in each copy with parents of that copy.

    A run whose parent is not before it is left out. No two share a value, which YAML would write only once.
    """
    planned: dict[str, dict[str, Any]] = {}
    for copy in range(-(-wanted // len(runs))):
        for key, run in runs.items():
            parents = {name: f"{run[name]}-{copy}" for name in ORIGINS if run[name].startswith(ARTEFACTS)}
            made = {parent.removeprefix(ARTEFACTS) for parent in parents.values()}
            if len(planned) < wanted and made <= planned.keys():
                planned[f"{key}-{copy}"] = deepcopy({**run, **parents})
    return planned


def _outputs(params: dict[str, Any]) -> list[str]:
    """Returns every output of the plan's stages and what the report reads besides."""
    stages = read_mapping(ROOT / "dvc.yaml")["stages"]
    single = [out for name in ("fingerprint", "report") for out in stages[name]["outs"]]
    paths = ["reports/benchmarks.json"]
    paths += [next(iter(out)) if isinstance(out, dict) else out for out in single]
    paths += [f"{part}/{key}" for part in ("backbones", "corpora", "teachers") for key in params[part]]
    paths += [f"data/{key}" for key in params["sources"]]
    paths += [f".fingerprints/train/{method}.txt" for method in METHODS]
    paths += [f".fingerprints/data/{key}.txt" for key in params["reads"]]
    for key in params["runs"]:
        paths += [
            f".fingerprints/evaluate/{key}.txt",
            f"artefacts/{key}",
            f"embeddings/{key}",
            f"reports/scores/{key}.json",
            f"reports/curves/{key}.json",
        ]
    return paths
