"""The order of the entries in dvc.lock, the same whether one launch recorded them or several did."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from harness.disk.files import discard_parts, sha256_of, write_json
from harness.paths import cache


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
