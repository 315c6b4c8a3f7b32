"""The files of .entries, on which stages depend: each entry of params.yaml by itself.

DVC reads the whole parameter file again for every stage that depends on one of its keys, so a plan of n runs
would read n entries n times. A stage that depends on its entry's file reads only that file, and does not run
if its bytes are unchanged.
"""

import json
from pathlib import Path
from typing import Any

from harness.io.files import write_text
from harness.io.outputs import new_folder
from harness.paths import ENTRIES, FILE_RECORD
from harness.plan.entries import Params

EVALUATION = ("tasks", "text", "weights", "outputs")
"""Keys of a run's entry on which its evaluation depends."""


def write_entries(params: Params, folder: Path = ENTRIES) -> Path:
    """Writes plan.json, PART/KEY.json for each entry, and `evaluation/KEY.json`, a share of a run's entry."""
    with new_folder(folder, FILE_RECORD) as part:
        for path, text in entry_texts(params).items():
            write_text(part / path, text)
    return folder


def entry_texts(params: Params) -> dict[Path, str]:
    """Returns the JSON of each file, by its path below the folder."""
    values = {Path("plan.json"): params.plan} | {
        Path(part, f"{key}.json"): entry
        for part, entries in entries_by_part(params).items()
        for key, entry in entries.items()
    }
    return {
        path: json.dumps(value, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"
        for path, value in values.items()
    }


def entries_by_part(params: Params) -> dict[str, dict[str, Any]]:
    """Returns part -> key -> entry. A source's entry includes the providers, which determine its origin."""
    parts = params.model_dump(mode="json", exclude={"plan", "providers"})
    parts["sources"] = {
        key: {**entry, "providers": params.providers} for key, entry in parts["sources"].items()
    }
    parts["evaluation"] = {
        key: {name: run[name] for name in EVALUATION} for key, run in parts["runs"].items()
    }
    for run in parts["runs"].values():
        del run["outputs"]  # a run that becomes one of the first seeds is not trained again
    return parts
