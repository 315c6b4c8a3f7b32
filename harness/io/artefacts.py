"""Read the record of a run's artefact."""

import os
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.io.records import check_plain, read_manifest
from harness.paths import RUN_RECORD


def read_artefact(folder: Path) -> dict[str, Any]:
    """Returns the record of a run's folder.

    Errors: InputError if the folder is not one of ours, or a file is not the one that training wrote.
    """
    again = "train the run again"
    if not os.path.lexists(folder / RUN_RECORD):
        raise InputError(f"{folder}: missing {RUN_RECORD}; train the run first")
    check_plain(folder, again=again)
    return read_manifest(folder / RUN_RECORD, "key", "selection", again=again)
