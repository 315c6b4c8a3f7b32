"""Writing files so that nothing half-written is ever seen, and the hashes of files and folders."""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

SETTLED = 1_000_000_000
"""Nanoseconds after which a file's times tell whether it was written again."""
_HASHES: dict[tuple[int, ...], str] = {}
"""State of a file -> the sha256 of its bytes."""


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yields a temporary file beside `path` that replaces `path` when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o644)
        os.replace(part, path)
    except BaseException:
        discard(part)
        raise


def discard_parts(path: Path) -> None:
    """Removes the temporary files that killed processes left of writing `path`; nobody may be writing it."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        discard(part)


def discard(path: Path) -> None:
    """Removes a temporary file or folder; one that cannot be removed stays, without an error."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    elif path.exists():
        with suppress(OSError):
            path.unlink()


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turns what libraries raise in the block when the disk refuses a write below `folder` into an OSError.

    safetensors has an error of its own with the system's number; torch says only that its file is short.
    """
    try:
        yield
    except Exception as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if type(error).__name__ == "SafetensorError" and number:
            raise OSError(int(number[1]), os.strerror(int(number[1])), str(folder)) from error
        if isinstance(error, RuntimeError) and "inline_container" in str(error):
            raise OSError(errno.EIO, "a file could not be written to its end", str(folder)) from error
        raise


def write_by_hash(folder: Path, name: str, write: Callable[[Path], object]) -> Path:
    """Returns the file of `folder` that `write` filled; `{}` in its name becomes its sha256.

    It appears whole or not at all, equal bytes are one file, and what a killed process leaves lies outside
    the folder.
    """
    handle, temporary = tempfile.mkstemp(dir=folder.parent, prefix=f".{folder.name}.", suffix=".part")
    os.close(handle)
    part = Path(temporary)
    try:
        write(part)
        part.chmod(0o644)
        path = folder / name.format(sha256_of(part))
        os.replace(part, path)
        return path
    except BaseException:
        discard(part)
        raise


def write_text(path: Path, text: str) -> None:
    """Writes `text` as UTF-8, atomically."""
    with atomic_path(path) as part:
        part.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Writes `value` as JSON with sorted keys, atomically; nan and infinity are refused."""
    write_text(path, json.dumps(value, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n")


def sha256_of(path: Path) -> str:
    """Returns the sha256 of a file's bytes, in hexadecimal.

    A process reads a file again only if the system says that it was changed or replaced meanwhile. What was
    written in the last second is read each time: the system's clock may not tell two such writes apart.
    """
    with path.open("rb") as file:
        state = _state(file.fileno())
        if state not in _HASHES:
            found = hashlib.file_digest(file, "sha256").hexdigest()
            if state != _state(file.fileno()) or time.time_ns() - max(state[-2:]) < SETTLED:
                return found
            _HASHES[state] = found
        return _HASHES[state]


def _state(handle: int) -> tuple[int, ...]:
    """Returns which file it is, its size, and the nanoseconds at which bytes and entry last changed."""
    about = os.fstat(handle)
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def sha256_of_folder(path: Path) -> str:
    """Returns one sha256 over the relative names and bytes of all files below `path`."""
    digest = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        digest.update(f"{file.relative_to(path).as_posix()}\0{sha256_of(file)}\n".encode())
    return digest.hexdigest()
