"""Read records: JSON objects with their own checksum and checksums of the files next to them."""

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
    has_own_digest,
)

FILE_ENDINGS = frozenset(
    {".csv", ".json", ".jsonl", ".model", ".npy", ".safetensors", ".tsv", ".txt", ".yaml"}
)
"""Names that neither a folder of this project nor a model's folder contains."""
DIGITS = 10
"""Significant digits of measured numbers in kept files; further digits depend on the machine."""


def rounded(value: Any) -> Any:
    """Returns a JSON value with its non-integers rounded to DIGITS significant digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {key: rounded(entry) for key, entry in value.items()}
    return [rounded(entry) for entry in value] if isinstance(value, list | tuple) else value


def read_object(path: Path, *keys: str, again: str) -> dict[str, Any]:
    """Returns the JSON object in a file without its checksum; it must have these keys.

    Errors: InputError in one line that ends with `again`, the advice how to write the file again; also if the
    checksum differs. An object without a checksum is accepted.
    """
    if not path.is_file():
        fault = "not a regular file" if os.path.lexists(path) else "no such file"
        raise InputError(f"{path}: {fault}; {again}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}); {again}") from None
    missing = [key for key in keys if not isinstance(content, dict) or key not in content]
    if missing or not isinstance(content, dict):
        named = f" with {', '.join(missing)}" if missing else ""
        raise InputError(f"{path}: not a JSON object{named}; {again}")
    if DIGEST in content and not has_own_digest(content):
        raise InputError(f"{path}: checksum mismatch, the file is damaged; {again}")
    return {key: value for key, value in content.items() if key != DIGEST}


def read_manifest(path: Path, *keys: str, again: str) -> dict[str, Any]:
    """Returns the JSON object in a file after verifying the checksums of the files it lists.

    Errors: InputError as of `read_object`; also if a listed file is missing or differs.
    """
    record = read_object(path, *keys, again=again)
    files = record.get(FILES, {})
    hashes: dict[str, Any] = {"": None}
    if isinstance(files, dict):  # the record of a fetched source has more than the checksum of each file
        hashes = {
            name: entry.get("sha256") if isinstance(entry, dict) else entry for name, entry in files.items()
        }
    if not all(isinstance(sha256, str) for sha256 in hashes.values()):
        raise InputError(f"{path}: `{FILES}` must be a table of files; {again}")
    changed = changed_file(path.parent, hashes)
    if changed is not None:
        fault = "changed" if changed.is_file() else "no such file"
        raise InputError(f"{changed}: {fault}, the file is damaged; {again}")
    return record


def check_plain(folder: Path, *, again: str, pattern: str = "**/*") -> None:
    """Raises InputError if a folder has a pipe, a link that leads nowhere, or a folder named as a file.

    Readers would wait forever at a pipe, and some would treat the other two as missing files. pattern: of the
    read files, by default all at any depth.
    """
    for path in sorted(folder.glob(pattern)):
        if path.is_dir():
            if path.suffix in FILE_ENDINGS:
                raise InputError(f"{path}: is a folder; {again}")
        elif not path.is_file():
            raise InputError(f"{path}: not a regular file; {again}")


def check_present(*folders: str | Path) -> None:
    """Raises InputError if an input folder of a stage is missing, or has a file that would block a reader.

    DVC has compared the files with those that the stage before wrote.
    """
    for folder in map(Path, folders):
        if not folder.is_dir():
            raise InputError(f"{folder}: missing input folder; make it with `dvc repro`")
        check_plain(folder, again="make it again with `dvc repro`")
