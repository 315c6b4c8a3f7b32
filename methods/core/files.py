"""Atomic writes of files, and records with checksums.

A checksum is in a JSON object: `digest` is the sha256 of its other entries, and the optional `files` maps
each path below the object's folder to a sha256.
"""

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

PART = ".part"
"""Suffix of temporary files and folders; their names start with a dot."""
DIGEST, FILES = "digest", "files"
SETTLED = 1_000_000_000
"""Age in nanoseconds above which a file's times show whether it was written again."""
UMASK = os.umask(0o077)
"""Permissions that the user's new files lack, read once: to read them is to change them."""
os.umask(UMASK)
_HASHES: dict[tuple[int, ...], str] = {}
"""Cache: state of a file -> sha256 of its bytes."""


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yields a temporary file next to `path` that replaces `path` when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=PART)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o666 & ~UMASK)
        os.replace(part, path)
    finally:
        discard(part)


def make_readable(folder: Path) -> None:
    """Gives all files below a folder the permissions of new files; libraries write private weights."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(0o666 & ~UMASK)


def discard(path: Path) -> None:
    """Removes a temporary file or folder; ignores errors."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def write_json(path: Path, value: Any) -> None:
    """Writes `value` as JSON with sorted keys, atomically; refuses nan and infinity."""
    text = json.dumps(value, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False)
    with atomic_path(path) as part:
        part.write_text(text + "\n", encoding="utf-8")


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Writes a JSON object with its checksum, atomically."""
    write_json(path, with_digest(record))


def with_digest(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a record with its checksum, so a reader notices any change."""
    rest = {key: value for key, value in record.items() if key != DIGEST}
    return {**rest, DIGEST: hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()}


def has_own_digest(record: Mapping[str, Any]) -> bool:
    """Returns whether a record has a checksum that matches its content."""
    return DIGEST in record and with_digest(record)[DIGEST] == record[DIGEST]


def file_hashes(folder: Path) -> dict[str, str]:
    """Returns the sha256 of every file of a folder by its path below it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}


def write_manifest(path: Path, record: Mapping[str, Any]) -> None:
    """Writes a JSON object with its checksum and the checksum of every file next to it and below."""
    path.unlink(missing_ok=True)
    write_record(path, {**record, FILES: file_hashes(path.parent)})


def read_whole(path: Path) -> dict[str, Any] | None:
    """Returns a record with its checksum; None if it is missing or damaged."""
    try:
        record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and has_own_digest(record) else None


def changed_file(folder: Path, hashes: Mapping[str, str]) -> Path | None:
    """Returns the first file that is missing or has a different sha256; None if all match."""
    paths = {folder / name: sha256 for name, sha256 in hashes.items()}
    return next((p for p, sha256 in paths.items() if not p.is_file() or sha256_of(p) != sha256), None)


def sha256_of(path: Path) -> str:
    """Returns the sha256 of a file; rereads the file only if its status changed.

    A file written within the last second is always reread, because two such writes may have equal times.
    """
    with path.open("rb") as file:
        state = _state(file.fileno())
        if state not in _HASHES:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            if state != _state(file.fileno()) or time.time_ns() - max(state[-2:]) < SETTLED:
                return digest
            _HASHES[state] = digest
        return _HASHES[state]


def _state(handle: int) -> tuple[int, ...]:
    status = os.fstat(handle)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
