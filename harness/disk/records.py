"""Reading what this project wrote: JSON objects and lines, and folders whose record has each file's hash."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.disk.files import sha256_of
from harness.errors import InputError

FILE_ENDINGS = frozenset(
    {".csv", ".json", ".jsonl", ".model", ".npy", ".safetensors", ".tsv", ".txt", ".yaml"}
)
"""Names that no folder of this project or of a model has."""


DIGITS = 10
"""Significant digits of a measured number in a file that is kept: the rest is the arithmetic of a machine."""

DIGEST = "digest"
"""Entry of a sealed record: the sha256 of all its other entries; of sealed lines: that of all behind it."""


def rounded(value: Any) -> Any:
    """Returns a JSON value with DIGITS significant digits of each number that is not whole."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {key: rounded(entry) for key, entry in value.items()}
    return [rounded(entry) for entry in value] if isinstance(value, list | tuple) else value


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a record with its digest, so that whoever reads it sees a changed character."""
    return {**record, DIGEST: _digest(record)}


def _digest(record: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in record.items() if key != DIGEST}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def read_object(path: Path, *keys: str, again: str) -> dict[str, Any]:
    """Returns the JSON object in a file, which has at least these keys; a sealed one has its digest.

    Errors: InputError in one line, which ends with `again`, what to do to have the file written once more.
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
    if DIGEST in found and found[DIGEST] != _digest(found):
        raise InputError(f"{path}: not the content that its digest states, the file is damaged; {again}")
    return found


def sealed_lines(lines: Iterable[str]) -> str:
    """Returns a file's text: a line with the digest of the others, then these, each of which ends in one."""
    text = "".join(lines)
    return json.dumps({DIGEST: hashlib.sha256(text.encode()).hexdigest()}) + "\n" + text


def read_lines(path: Path, *, expected: str, again: str) -> list[dict[str, Any]]:
    """Returns the JSON objects in a file, one a line; sealed lines have their digest, which is left out.

    Errors: InputError in one line that names what was `expected` and ends with `again`. A file without any
    object is an error, for then nothing tells what is lost.
    """
    if not path.is_file():
        raise InputError(f"{path}: not a regular file, expected {expected}; {again}")
    try:
        text = path.read_text(encoding="utf-8")
        found = [json.loads(line) for line in text.splitlines()]
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected {expected} ({error}); {again}") from None
    if not found or not all(isinstance(entry, dict) for entry in found):
        raise InputError(f"{path}: expected {expected}, a JSON object each; {again}")
    if DIGEST not in found[0]:
        return found
    if found[0] != {DIGEST: hashlib.sha256(text.partition("\n")[2].encode()).hexdigest()}:
        raise InputError(f"{path}: not the lines that its digest states, the file is damaged; {again}")
    return found[1:]


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


def check_files(folder: Path, recorded: Mapping[str, str], *, again: str) -> None:
    """Raises InputError, which ends with `again`, unless files of a folder have the recorded sha256."""
    for name, sha256 in recorded.items():
        path = folder / name
        if not path.is_file():
            raise InputError(f"{path}: no such file, expected it as it was written; {again}")
        if sha256_of(path) != sha256:
            raise InputError(f"{path}: other bytes than were written, the file is damaged; {again}")
