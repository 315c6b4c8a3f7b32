"""A report on disk: all of its files appear together, or what was there stays as it was."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.errors import InputError

LEFTOVER = ".report."
"""How the temporary folder of a report begins; one that is found was left by a killed process."""


def write_whole(folder: Path, files: Mapping[str, str]) -> None:
    """Writes every text to its path below `folder`, in UTF-8; whatever fails, the former files stay.

    The first part of a path, a file or a folder, is replaced as a whole, so nothing of a former report stays
    in a folder. A second process waits until the first is done. Errors: InputError, before anything is
    written, for a folder that holds a file such as no report writes.
    """
    _refuse_foreign(folder, files)
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        for leftover in folder.glob(f"{LEFTOVER}*"):
            shutil.rmtree(leftover)
        part = Path(tempfile.mkdtemp(dir=folder, prefix=LEFTOVER, suffix=".part"))
        try:
            new, old = part / "new", part / "old"
            old.mkdir()
            for name, text in files.items():
                path = new / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            _exchange(new, folder, old)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _refuse_foreign(folder: Path, files: Mapping[str, str]) -> None:
    """Raises InputError if a folder to be replaced holds what has no ending of the files that replace it."""
    endings: dict[str, set[str]] = {}
    for name in files:
        top, _, rest = name.partition("/")
        if rest:
            endings.setdefault(top, set()).add(Path(rest).suffix)
    for top, known in endings.items():
        path = folder / top
        if path.exists() and not path.is_dir():
            raise InputError(f"{path} is a file, expected the folder of a former report; move it")
        for found in sorted(path.iterdir()) if path.is_dir() else ():
            if found.is_dir() or found.suffix not in known:
                raise InputError(
                    f"{found}: no report writes this, and {path} is replaced as a whole; move it elsewhere"
                )


def _exchange(new: Path, folder: Path, old: Path) -> None:
    """Moves the entries of `new` to `folder` and what they replace to `old`; on an error moves all back."""
    done: list[tuple[Path, Path]] = []
    try:
        for entry in sorted(new.iterdir()):
            target = folder / entry.name
            moves = [(entry, target)]
            if os.path.lexists(target):
                moves.insert(0, (target, old / entry.name))
            for source, goal in moves:
                os.rename(source, goal)
                done.append((source, goal))
    except BaseException:
        for source, goal in reversed(done):
            os.rename(goal, source)
        raise


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Holds a lock on a folder; it ends with the process, whatever becomes of it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
