"""Reading what this project wrote: JSON objects with their checksum and that of the files next to them.

A folder between two stages has such an object, its record; `check_inputs` holds folders against theirs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.disk.files import sha256_of_folder
from harness.errors import InputError
from harness.paths import (
    ARTEFACTS,
    BACKBONE_RECORD,
    BACKBONES,
    CORPORA,
    CORPUS_RECORD,
    DATA,
    RUN_RECORD,
    SOURCE_RECORD,
    TEACHER_RECORD,
    TEACHERS,
)
from methods.core.files import (
    DIGEST,
    FILES,
    changed_file,
    file_hashes,
    has_own_digest,
    write_record,
)

FILE_ENDINGS = frozenset(
    {".csv", ".json", ".jsonl", ".model", ".npy", ".safetensors", ".tsv", ".txt", ".yaml"}
)
"""Names that no folder of this project or of a model has."""
DIGITS = 10
"""Significant digits of a measured number in a file that is kept: the rest is the arithmetic of a machine."""
RECORDS = {
    ARTEFACTS: (RUN_RECORD, "train the run again"),
    CORPORA: (CORPUS_RECORD, "make it again with `sentbench corpus {}`"),
    TEACHERS: (TEACHER_RECORD, "make them again with `sentbench teach {}`"),
    BACKBONES: (BACKBONE_RECORD, "remove the folder and make it with `sentbench backbone {}`"),
    DATA: (SOURCE_RECORD, "remove the folder and run `sentbench data fetch {}`"),
}
"""Room of the project -> the record of a folder of it, and how the folder is made again."""
STATED = {ARTEFACTS: ("key", "selection"), CORPORA: (FILES,), BACKBONES: (FILES,)}
"""Room -> what a record of it must have."""
MADE_FROM = ("encoder", "corpus")
"""What a teacher's record states with the hash of its folder."""


def rounded(value: Any) -> Any:
    """Returns a JSON value with DIGITS significant digits of each number that is not whole."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {key: rounded(entry) for key, entry in value.items()}
    return [rounded(entry) for entry in value] if isinstance(value, list | tuple) else value


def read_object(path: Path, *keys: str, again: str) -> dict[str, Any]:
    """Returns the JSON object in a file, which has at least these keys, without its checksum.

    Errors: InputError in one line, which ends with `again`, what to do to have the file written once more; so
    for an object that differs from its checksum. One without a checksum is read as it is.
    """
    if not path.is_file():
        fault = "not a regular file" if os.path.lexists(path) else "no such file"
        raise InputError(f"{path}: {fault}, expected a JSON object; {again}")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}), expected a JSON object; {again}") from None
    missing = [key for key in keys if not isinstance(found, dict) or key not in found]
    if missing or not isinstance(found, dict):
        named = f" with {', '.join(missing)}" if missing else ""
        raise InputError(f"{path}: not a JSON object{named}, expected one; {again}")
    if DIGEST in found and not has_own_digest(found):
        raise InputError(f"{path}: not the content that its checksum states, the file is damaged; {again}")
    return {key: value for key, value in found.items() if key != DIGEST}


def write_manifest(path: Path, record: Mapping[str, Any]) -> None:
    """Writes a JSON object with its checksum and that of every file next to it and below."""
    path.unlink(missing_ok=True)
    write_record(path, {**record, FILES: file_hashes(path.parent)})


def read_manifest(path: Path, *keys: str, again: str) -> dict[str, Any]:
    """Returns the JSON object in a file whose folder has all files that it states, each as it was written.

    Errors: InputError in one line, which ends with `again`, as of `read_object`, and for a file that is
    missing or has other bytes.
    """
    record = read_object(path, *keys, again=again)
    files = record.get(FILES, {})
    hashes: dict[str, Any] = {"": None}
    if isinstance(files, dict):  # that of a fetched source has more of each file than its checksum
        hashes = {name: one.get("sha256") if isinstance(one, dict) else one for name, one in files.items()}
    if not all(isinstance(sha256, str) for sha256 in hashes.values()):
        raise InputError(f"{path}: `{FILES}` is no table of files, expected one; {again}")
    changed = changed_file(path.parent, hashes)
    if changed is not None:
        fault = "other bytes than were written" if changed.is_file() else "no such file"
        raise InputError(f"{changed}: {fault}, the file is damaged; {again}")
    return record


def check_plain(folder: Path, *, again: str, pattern: str = "**/*") -> None:
    """Raises InputError if a folder has a pipe, a link that leads nowhere, or a folder named as a file.

    Readers would wait at the first for ever, and some take the others for files that are not there.
    pattern: of what is read there, by default all files at any depth.
    """
    for path in sorted(folder.glob(pattern)):
        if path.is_dir():
            if path.suffix in FILE_ENDINGS:
                raise InputError(f"{path}: is a folder, expected a file; {again}")
        elif not path.is_file():
            raise InputError(f"{path}: is no plain file, expected one; {again}")


def read_artefact(folder: Path) -> dict[str, Any]:
    """Returns the description of a run's folder.

    Errors: InputError if the folder is not one of ours, or a file is not the one that training wrote.
    """
    record, again = RECORDS[ARTEFACTS]
    if not os.path.lexists(folder / record):
        raise InputError(f"{folder}: no {record}, expected the artefact of a run; train it first")
    check_plain(folder, again=again)
    return read_manifest(folder / record, *STATED[ARTEFACTS], again=again)


def check_inputs(*folders: str, teacher: Mapping[str, str] | None = None) -> None:
    """Raises InputError if a folder that a stage reads is missing, or not as it was written.

    teacher: what the plan says of the teacher among them; what its vectors were made from must be that still.
    """
    for folder in map(Path, folders):
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder, expected it as an input; make it with `dvc repro`")
        record, again = RECORDS.get(folder.parent, (SOURCE_RECORD, "make it again with `dvc repro`"))
        again = again.format(folder.name)
        check_plain(folder, again=again)
        for name in dict.fromkeys((record, SOURCE_RECORD)):  # a copied backbone has the record of its source
            needed = name == record and folder.parent in (ARTEFACTS, CORPORA, TEACHERS)
            if not needed and not os.path.lexists(folder / name):
                continue
            found = read_manifest(folder / name, *STATED.get(folder.parent, ()), again=again)
            if folder.parent != TEACHERS or teacher is None:
                continue
            for part, planned in teacher.items():
                if found.get(part) != planned:
                    raise InputError(
                        f"{folder}: vectors of {part} {found.get(part)}, the plan's is {planned}; {again}"
                    )
                if part in MADE_FROM and found.get(f"{part}_sha256") != sha256_of_folder(Path(planned)):
                    raise InputError(f"{folder}: vectors of another {part} than {planned} is now; {again}")
