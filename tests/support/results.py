"""The content of a result file, as JSON has it."""

import json
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parents[1] / "harness/report/recorded/scores"

NAME = {"task": "STSB", "metric": "spearman", "setting": "all", "selection": "best-dev"}
SCORE = {**NAME, "value": 0.75, "n": 9}


def raw_result(key: str = "simcse__tiny__s0", scores: Any = None, **changes: Any) -> dict[str, Any]:
    """Returns a result with these scores, by default SCORE; `changes` are of its record or provenance, by
    name."""
    raw: dict[str, Any] = {
        "schema": 1,
        "run": {
            "key": key, "id": "simcse", "method": "simcse", "variant": "released", "backbone": "tiny",
            "seed": 0, "recipe": "r", "identity": "i",
        },
        "scores": [dict(SCORE)] if scores is None else scores,
        "selection": {"best_step": 2, "best_dev": 0.5, "last_step": 4, "last_dev": 0.4, "initial_dev": 0.3},
        "provenance": {
            "git_commit": "c", "git_dirty": False, "encoder_sha256": "e", "data_sha256": {"stsb": "d"},
            "versions": {"torch": "1"}, "device": "cpu", "precision": "fp32", "text": "senteval",
        },
    }  # fmt: skip
    for name, value in changes.items():
        raw["run" if name in raw["run"] else "provenance"][name] = value
    return raw


def copy_recorded(folder: Path) -> None:
    """Writes the recorded results into a new folder, with the keys and names that runs have."""
    folder.mkdir(parents=True)
    for path in RECORDED.glob("*.json"):
        raw = json.loads(path.read_text())
        run = raw["run"]
        run["key"] = f"{run['id']}__{run['backbone']}__s{run['seed']}"
        (folder / f"{run['key']}.json").write_text(json.dumps(raw))
