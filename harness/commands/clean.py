"""`sentbench clean`: remove what runs that left the plan have left behind.

Example: `sentbench clean --dry-run`
"""

import argparse
import re
import shutil
from pathlib import Path

from harness.disk.layouts import ARTEFACT, STORE
from harness.disk.outputs import is_written_by_us
from harness.paths import ARTEFACTS, COSTS, CURVES, EMBEDDINGS, SCORES
from harness.plan.entries import Params, read_params

FOLDERS = {ARTEFACTS: ARTEFACT, EMBEDDINGS: STORE}
FILES = {SCORES: (".json",), CURVES: (".json",), COSTS: (".train.json", ".evaluate.json")}
KEY = re.compile(r".+__.+__s\d+")
"""The key of a run: system, backbone and seed."""
ARGUMENTS = {"--dry-run": {"action": "store_true", "help": "name what would be removed"}}


def execute(arguments: argparse.Namespace) -> None:
    """Removes what runs outside the plan have left, or only names it; names what no run wrote."""
    ours, others = orphans(read_params())
    for path in ours:
        print(f"{'would remove' if arguments.dry_run else 'removed'} {path}")
        if not arguments.dry_run:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in others:
        print(f"left {path}: no run wrote it")
    if not ours:
        print("nothing to remove: every result belongs to a run of params.yaml")


def orphans(params: Params) -> tuple[list[Path], list[Path]]:
    """Returns what runs outside the plan have left, and what no run can have written; both sorted."""
    ours: list[Path] = []
    others: list[Path] = []
    for folder in (*FOLDERS, *FILES):
        for path in folder.glob("*"):
            key = path.name.split(".")[0]
            if key not in params.runs and not path.name.startswith("."):
                (ours if _is_of_a_run(path, key) else others).append(path)
    return sorted(ours), sorted(others)


def _is_of_a_run(path: Path, key: str) -> bool:
    if not KEY.fullmatch(key) or path.is_symlink():
        return False
    layout = FOLDERS.get(path.parent)
    if layout is not None:
        return path.is_dir() and is_written_by_us(path, layout)
    return path.is_file() and path.name.removeprefix(key) in FILES[path.parent]
