"""What a launch says while it runs: one line of counts and of the time left."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TextIO

PERIOD = 10.0
"""Seconds between two lines where standard error is no terminal."""
STATES = ("done", "unchanged", "restored", "failed")


@dataclass
class Progress:
    """Counts of a launch, and what its stages took so far."""

    kinds: dict[str, str]
    """Each stage with its kind."""
    slots: int
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    states: dict[str, str] = field(default_factory=dict)
    """Each stage that is over, and how it ended."""
    _started: dict[str, float] = field(default_factory=dict)
    _seconds: dict[str, list[float]] = field(default_factory=dict)
    _shown: float = 0.0
    _width: int = 0

    def start(self, stage: str) -> None:
        """A stage begins to run, or does so once more."""
        self._started.setdefault(stage, time.monotonic())

    def end(self, stage: str, state: str) -> None:
        """A stage is over: `done`, `unchanged`, `restored` or `failed`."""
        self.states[stage] = state
        started = self._started.pop(stage, None)
        if started is not None and state == "done":
            self._seconds.setdefault(self.kinds[stage], []).append(time.monotonic() - started)

    def show(self, *, last: bool = False) -> None:
        """Prints the line: over the former one on a terminal, elsewhere now and then, and at the end."""
        terminal = self.stream.isatty()
        if not last and not terminal and time.monotonic() - self._shown < PERIOD:
            return
        self._shown = time.monotonic()
        line = self.line()
        end = "\r" if terminal and not last else "\n"
        print(line.ljust(self._width if terminal else 0), end=end, file=self.stream, flush=True)
        self._width = len(line)

    def line(self) -> str:
        """Returns the counts and, where every kind that is left has been measured, the time left."""
        counts = Counter(self.states.values())
        parts = [f"{len(self.states)} of {len(self.kinds)} stages"]
        parts += [f"{counts[state]} {state}" for state in STATES if counts[state]]
        if self._started:
            parts.append(f"{len(self._started)} running")
        left = self.seconds_left()
        if left is not None:
            parts.append(f"about {duration(left)} left")
        return ", ".join(parts)

    def seconds_left(self) -> float | None:
        """Returns the work left over the slots at the mean time of each kind, None if a kind has no time."""
        left = Counter(kind for stage, kind in self.kinds.items() if stage not in self.states)
        if not left or not left.keys() <= self._seconds.keys():
            return None
        work = sum(number * _mean(self._seconds[kind]) for kind, number in left.items())
        now = time.monotonic()
        spent = sum(
            min(now - started, _mean(self._seconds[self.kinds[stage]]))
            for stage, started in self._started.items()
        )
        return (work - spent) / max(1, min(self.slots, sum(left.values())))


def duration(seconds: float) -> str:
    """Returns a time for a reader: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
