"""`sentbench clean`: removes what runs that left the plan have left behind."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.plan.entries import Params

PLACES = {
    "artefacts": "*",
    "embeddings": "*",
    "reports/scores": "*.json",
    "reports/curves": "*.jsonl",
    "reports/costs": "*.json",
}


def orphans(params: Params) -> list[Path]:
    """Returns the files and folders that belong to no run of the plan, sorted."""
    found = []
    for place, pattern in PLACES.items():
        for path in Path(place).glob(pattern):
            if not path.name.startswith(".") and path.name.split(".")[0] not in params.runs:
                found.append(path)
    return sorted(found)


def clean(params: Params, *, dry_run: bool) -> None:
    """Removes the orphans, or only names them."""
    found = orphans(params)
    for path in found:
        print(f"{'would remove' if dry_run else 'removed'} {path}")
        if not dry_run:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if not found:
        print("nothing to remove: every result belongs to a run of params.yaml")
