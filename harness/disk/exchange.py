"""New outputs are written next to their paths and exchanged for the old ones together.

What is not yet, or no longer, an output is in a hidden folder next to it, as NEW and OLD. The process that
works there holds a lock on the folder, which the system drops when the process ends, however it ends. So a
folder without a lock was left by a killed process; the next command for that output restores or removes it.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.disk.files import discard
from harness.errors import InputError

SUFFIX = ".part"
NEW, OLD = "new", "old"


@contextmanager
def work_folders(outputs: Mapping[Path, bool]) -> Iterator[dict[Path, Path]]:
    """Yields for each output where its new version goes: an empty folder if its value is True, else a file.

    When the block ends the rest is removed, but for an old version that could not be put back.
    """
    folders: dict[Path, Path] = {}
    with ExitStack() as locks:
        try:
            for output, is_folder in outputs.items():
                output.parent.mkdir(parents=True, exist_ok=True)
                folder = Path(tempfile.mkdtemp(dir=output.parent, prefix=_prefix(output), suffix=SUFFIX))
                folders[output] = folder
                locks.enter_context(_locked(folder))
                if is_folder:
                    (folder / NEW).mkdir()
                else:
                    (folder / NEW).touch()
            yield {output: folder / NEW for output, folder in folders.items()}
        finally:
            for output, folder in folders.items():
                waits = os.path.lexists(folder / OLD) and not os.path.lexists(output)
                discard(folder / NEW if waits else folder)


def exchange(new: Mapping[Path, Path]) -> None:
    """Moves every new version to its output; if one cannot be moved, all outputs are what they were."""
    try:
        for output, path in new.items():
            if os.path.lexists(output):
                os.rename(output, path.with_name(OLD))
            os.rename(path, output)
    except BaseException:
        for output, path in new.items():
            _put_back(output, path)
        raise


def clear_leftovers(output: Path) -> None:
    """Moves the old version that a killed process left back to an output without any; removes the rest."""
    pattern = re.compile(re.escape(_prefix(output)) + r"[a-z0-9_]+" + re.escape(SUFFIX))
    try:
        found = [name for name in os.listdir(output.parent) if pattern.fullmatch(name)]
    except OSError:  # no such folder, or one that may not be read
        return
    for folder in map(output.with_name, sorted(found)):
        if not folder.is_dir() or folder.is_symlink():
            continue
        with _locked(folder) as free:
            if free and os.path.lexists(folder / OLD) and not os.path.lexists(output):
                os.rename(folder / OLD, output)
            if free:
                discard(folder)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Holds the lock of a folder in the block; yields False where another process holds it."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        free = True
    except OSError:
        free = False
    try:
        yield free
    finally:
        os.close(handle)


def _prefix(output: Path) -> str:
    return f".{output.name}."


def _put_back(output: Path, new: Path) -> None:
    old = new.with_name(OLD)
    if os.path.lexists(output) and not os.path.lexists(new):
        os.rename(output, new)
    if os.path.lexists(old):
        try:
            os.rename(old, output)
        except OSError as error:
            raise InputError(
                f"{output}: could not be put back ({error.strerror}); what it held is in {old}: "
                "move it back by hand"
            ) from None
