"""Atomic writes of files, and hashes of files and folders."""

import errno
import glob
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from methods.core.files import (
    UMASK,
    atomic_path,
    discard,
    make_readable,
    sha256_of,
    write_json,
    write_manifest,
    write_record,
)

__all__ = [
    "UMASK",
    "atomic_path",
    "discard",
    "make_readable",
    "sha256_of",
    "write_json",
    "write_manifest",
    "write_record",
]


def discard_parts(path: Path) -> None:
    """Removes temporary files that killed processes left next to `path`; no process may be writing it."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        discard(part)


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turns errors of libraries about a refused write below `folder` into an OSError.

    safetensors raises its own error with the system's number; torch reports only an incomplete file.
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


def write_text(path: Path, text: str) -> None:
    """Writes `text` as UTF-8, atomically."""
    with atomic_path(path) as part:
        part.write_text(text, encoding="utf-8")


def sha256_of_folder(path: Path) -> str:
    """Returns one sha256 over the relative names and bytes of all files below `path`."""
    digest = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        digest.update(f"{file.relative_to(path).as_posix()}\0{sha256_of(file)}\n".encode())
    return digest.hexdigest()
