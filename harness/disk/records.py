"""Reading what this project wrote: JSON objects with their checksum and that of the files next to them."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import InputError
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
