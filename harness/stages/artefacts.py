"""What one stage leaves for others: folders whose record has the hash of every file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.files import sha256_of
from harness.paths import ARTEFACTS, RUN_RECORD

FILES = "files"
"""Entry of a record: path of a file below the folder -> its sha256."""


class Artefact(NamedTuple):
    """What the train stage wrote about one run."""

    folder: Path
    about: dict[str, Any]


def file_hashes(folder: Path) -> dict[str, str]:
    """Returns the sha256 of every file of a folder by its path below it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}


def check_files(folder: Path, recorded: object, *, again: str) -> None:
    """Raises InputError, which ends with `again`, unless the files are those that were recorded."""
    if not isinstance(recorded, dict):
        return  # written before records had hashes
    for name, sha256 in recorded.items():
        path = folder / name
        if not path.is_file():
            raise InputError(f"{path}: no such file, expected it as it was written; {again}")
        if sha256_of(path) != sha256:
            raise InputError(f"{path}: other bytes than were written, the file is damaged; {again}")


def read_artefact(folder: Path) -> Artefact:
    """Returns a run's folder with its description.

    Errors: InputError if the folder is not one of ours, or a file is not the one that training wrote.
    """
    again = "train the run again"
    path = folder / RUN_RECORD
    if not path.is_file():
        raise InputError(f"{folder}: no {RUN_RECORD}, expected the artefact of a run; train it first")
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not JSON ({error}), expected a run's description; {again}") from None
    if not isinstance(about, dict) or not {"key", "selection"} <= set(about):
        raise InputError(f"{path}: not a run's description, expected its key and selection; {again}")
    check_files(folder, about.get(FILES), again=again)
    return Artefact(folder, about)


def check_artefact(folder: str) -> None:
    """Raises InputError if a folder below artefacts/ is not as training wrote it; other folders pass."""
    if Path(folder).parent == ARTEFACTS:
        read_artefact(Path(folder))
