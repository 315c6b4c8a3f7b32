"""The lock of the hub's files: for each source in it the commit and the hash of every file."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import Field

from harness.declarations import Declaration, read_declarations
from harness.disk.files import write_text
from harness.errors import InputError

LOCK = Path(__file__).with_name("sources.lock.yaml")


class Lock(Declaration):
    """What one source was on the hub."""

    commit: str = Field(pattern=r"^[0-9a-f]{40}$")
    files: dict[str, str] = Field(description="delivered file -> sha256")


def read_locks(path: Path) -> dict[str, Lock]:
    """Returns source -> lock, empty where nothing is locked yet."""
    return read_declarations(path, Lock)


def lock_sources(records: dict[str, dict[str, object]], path: Path = LOCK) -> None:
    """Adds fetched sources to the lock; `records` holds the source.json of each.

    Errors: InputError for a source that did not come from the hub with a commit.
    """
    locks = dict(read_locks(path))
    for name, record in records.items():
        if record.get("provider") != "hub" or not record.get("revision"):
            raise InputError(
                f"source {name}: from provider {record.get('provider')}, expected the hub with a commit; "
                "fetch it with --providers hub"
            )
        files = record["files"]
        assert isinstance(files, dict)
        hashes = {file: found["sha256"] for file, found in files.items()}
        locks[name] = Lock(commit=str(record["revision"]), files=hashes)
    head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    kept = {name: locks[name].model_dump() for name in sorted(locks)}
    write_text(path, "\n".join(head) + "\n" + yaml.safe_dump(kept, sort_keys=False, width=110))


LOCKS: dict[str, Lock] = read_locks(LOCK)
