"""Whether other processes take processor time from the works of this machine: then one more of them is begun.

Linux shares processors evenly among the threads that want them. So beside one foreign process two works get
two thirds of two processors, and three get three quarters. Nothing is found where the kernel does not count
how long a process waits.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

PROCESSES = Path("/proc")
WINDOW = 10.0
"""Seconds over which waiting is counted before it decides."""
CROWDED = 0.85
"""Works that got less than this share of what they would have had alone share the processors with others."""


class Crowding:
    """What the works of this machine got of the processors, of late."""

    def __init__(self, cores: int, processes: Path = PROCESSES) -> None:
        """processes: the folder in which the kernel keeps one for each process."""
        self.found = False
        self._cores, self._processes = cores, processes
        self._last: dict[int, tuple[int, int]] = {}
        self._since = time.monotonic()
        self._got = self._due = 0.0

    def look(self, running: Iterable[int]) -> None:
        """Counts what the processes, each with one thread that computes, got since the last call."""
        now = {pid: times for pid in running if (times := self._times(pid)) is not None}
        alone = min(1.0, self._cores / max(1, len(now)))
        for pid, (ran, waited) in now.items():
            ran_before, waited_before = self._last.get(pid, (ran, waited))
            self._got += ran - ran_before
            self._due += alone * (ran - ran_before + waited - waited_before)
        self._last = now
        if time.monotonic() - self._since >= WINDOW:
            self.found = self._got < CROWDED * self._due
            self._since, self._got, self._due = time.monotonic(), 0.0, 0.0

    def _times(self, pid: int) -> tuple[int, int] | None:
        """Returns nanoseconds on a processor and waiting for one; None where the kernel does not say."""
        try:
            ran, waited, *_ = (self._processes / str(pid) / "schedstat").read_text(encoding="ascii").split()
        except (OSError, ValueError):
            return None
        return int(ran), int(waited)
