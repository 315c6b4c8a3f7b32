"""DVC's list of files that are being read and written: who is on it, and whether that process still is."""

from __future__ import annotations

import json
import os
from itertools import chain
from pathlib import Path

from harness.errors import InputError

CLOCKS = 2.0
"""Seconds by which a file's time and a process's may differ for one instant."""


def check_rwlock(folder: Path) -> None:
    """Removes what ended processes left in DVC's file `rwlock`, which is in `folder` next to its lock.

    DVC knows a process by its number alone, so that another program with the same number would block for
    good. A process that began after the file was written is another one.
    Errors: InputError if a process of the list still runs: a `dvc repro` in the command of a stage; or if
    DVC cannot write the list, for it is no file.
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
