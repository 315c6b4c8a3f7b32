"""Two files that DVC writes: dvc.lock, whose entries keep their order, and the list of what is being read."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from harness.disk.files import discard_parts, sha256_of, write_json
from harness.errors import InputError
from harness.paths import cache

CLOCKS = 2.0
"""Seconds by which a file's time and a process's may differ for one instant."""


class LockOrder:
    """A dvc.lock, and the entries that it had before launches that have not ended yet.

    A serial `dvc repro` adds entries in the pipeline's order behind those. A launch that failed has left them
    with gaps; what was there before it is kept in a file, valid as long as dvc.lock is what it wrote.
    """

    def __init__(self, path: str) -> None:
        """path: of dvc.yaml. Removes what a launch left that was killed while it wrote dvc.lock."""
        self.lock = Path(path).with_suffix(".lock")
        discard_parts(self.lock)
        name = hashlib.sha256(str(self.lock).encode()).hexdigest()
        self._record = cache() / "launch" / f"order-{name[:16]}.json"

    @property
    def text(self) -> str:
        """The text of dvc.lock, empty if there is none."""
        return self.lock.read_text(encoding="utf-8") if self.lock.exists() else ""

    def known(self, entries: Iterable[str]) -> frozenset[str]:
        """Returns those entries that were there before the launches that have not ended."""
        try:
            kept = json.loads(self._record.read_text(encoding="utf-8"))
            if sha256_of(self.lock) in kept["sha256"]:
                return frozenset(kept["known"])
        except (OSError, ValueError, LookupError, TypeError):
            pass
        return frozenset(entries)

    def keep(self, known: frozenset[str], part: Path) -> None:
        """Keeps these entries for a launch that goes on from this one. part: is about to replace dvc.lock."""
        files = [sha256_of(path) for path in (self.lock, part) if path.exists()]
        write_json(self._record, {"sha256": files, "known": sorted(known)})

    def forget(self) -> None:
        """Everything has ended: what dvc.lock has now is what the next launch adds to."""
        self._record.unlink(missing_ok=True)


def check_rwlock(folder: Path) -> None:
    """Removes what ended processes left in DVC's file `rwlock`, which is in `folder` next to its lock.

    DVC knows a process by its number alone, so that another program with the same number would block for
    good. A process that began after the file was written is another one.
    Errors: InputError if a process of the list still runs: a `dvc repro` in the command of a stage; or if
    DVC cannot write the list, because it is not a file.
    """
    from dvc.rwlock import SCHEMA
    from voluptuous import Invalid

    path = folder / "rwlock"
    for file in (path, folder / "rwlock.lock"):
        if os.path.lexists(file) and not file.is_file():
            raise InputError(f"{os.path.relpath(file)}: expected a file; delete it")
    if not path.is_file():
        return
    try:
        content = SCHEMA(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, RecursionError, Invalid):
        content = {"write": {}, "read": {}}  # a write that was cut short
    written = path.stat().st_mtime
    for entry in [*content["write"].values(), *chain.from_iterable(content["read"].values())]:
        if _runs_since(entry["pid"], written):
            raise InputError(
                f"process {entry['pid']} ({entry['cmd']}) is at work in this project, expected one `dvc` or "
                "`sentbench launch` at a time; wait until it has ended"
            )
    path.unlink()


def _runs_since(number: int, written: float) -> bool:
    import psutil

    try:
        return number != os.getpid() and psutil.Process(number).create_time() <= written + CLOCKS
    except (psutil.NoSuchProcess, ValueError, OverflowError):
        return False
