"""Progress line of a launch, and of other work in many parts: counts and remaining time."""

import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from statistics import fmean
from typing import TextIO

PERIOD = 30.0
"""Seconds between two lines if standard error is not a terminal."""
QUICK = 3.0
"""Work of a command that takes fewer seconds has no progress line."""
STATES = ("done", "unchanged", "restored", "failed")
SEED = re.compile(r"__s\d+$")
"""Suffix of a stage's name with the seed: it differs between the seeds of one system."""


@dataclass
class Progress:
    """Counts of a launch, and durations of its stages so far."""

    order: Mapping[str, set[str]]
    """Each stage with its dependencies, in topological order."""
    slots: int
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    guesses: Mapping[str, float] = field(default_factory=dict)
    """Expected seconds of stages, from records or of known plans."""
    states: dict[str, str] = field(default_factory=dict)
    """Finished stages and their outcomes."""
    unit: str = "stages"
    _started: dict[str, float] = field(default_factory=dict)
    _took: dict[str, float] = field(default_factory=dict)
    _shown: float | None = None
    _last: str = ""

    def start(self, stage: str) -> None:
        """Marks a stage as running."""
        self._started[stage] = time.monotonic()

    def end(self, stage: str, state: str) -> None:
        """Marks a stage as finished: `done`, `unchanged`, `restored` or `failed`."""
        self.states[stage] = state
        started = self._started.pop(stage, None)
        if started is not None and state == "done":
            self._took[stage] = time.monotonic() - started

    def show(self, *, last: bool = False) -> None:
        """Prints the line: in place on a terminal, otherwise at the first stage that runs, every PERIOD
        seconds, and at the end if it says something new."""
        terminal, now, line = self.stream.isatty(), time.monotonic(), self.line()
        if terminal:
            line = line[: shutil.get_terminal_size().columns - 1]
        elif not (line != self._last if last else self._due(now)):
            return
        self._shown = now
        end = "\r" if terminal and not last else "\n"
        print(line.ljust(len(self._last) if terminal else 0), end=end, file=self.stream, flush=True)
        self._last = line

    def _due(self, now: float) -> bool:
        if self._shown is not None:
            return now - self._shown >= PERIOD
        return bool(self._started or self._took)

    def line(self) -> str:
        """Returns the counts and, if a stage has run and all durations can be estimated, the time left: at
        most, if stages were found unchanged, as those that are left may be unchanged too.
        """
        counts = Counter(self.states.values())
        parts = [f"{len(self.states)} of {len(self.order)} {self.unit}"]
        parts += [f"{counts[state]} {state}" for state in STATES if counts[state]]
        if self._started:
            parts.append(f"{len(self._started)} running")
        left = self.seconds_left() if self._started or self._took else None
        if left is not None:
            bound = "at most" if counts["unchanged"] or counts["restored"] else "about"
            parts.append(f"{bound} {duration(left)} left")
        return ", ".join(parts)

    def seconds_left(self) -> float | None:
        """Returns the estimated seconds of the remaining stages, None if one has no estimate. The estimate is
        the larger of their sum divided by the slots and the longest chain of dependencies.
        """
        left = [stage for stage in self.order if stage not in self.states]
        expected, now = self._expected(left), time.monotonic()
        if not left or expected is None:
            return None
        rest = {
            stage: max(0.0, seconds - (now - self._started.get(stage, now)))
            for stage, seconds in expected.items()
        }
        ends: dict[str, float] = {}
        for stage in left:
            ends[stage] = rest[stage] + max((ends.get(need, 0.0) for need in self.order[stage]), default=0.0)
        return max(sum(rest.values()) / max(1, self.slots), *ends.values())

    def _expected(self, stages: list[str]) -> dict[str, float] | None:
        """Returns the seconds of each stage: of another seed, otherwise the estimate scaled by measured /
        estimated seconds of its kind, otherwise the mean of its kind; None if a stage has none of these.
        """
        estimates: dict[str, float] = {}
        took: dict[str, list[float]] = {}
        for stage, seconds in self._took.items():
            for group in (SEED.sub("", stage), _kind(stage)):
                took.setdefault(group, []).append(seconds)
        ratios = {kind: self._ratio(kind) for kind in set(map(_kind, self._took))}
        for stage in stages:
            kind = _kind(stage)
            if SEED.sub("", stage) in took:
                estimates[stage] = fmean(took[SEED.sub("", stage)])
            elif stage in self.guesses:
                estimates[stage] = self.guesses[stage] * ratios.get(kind, 1.0)
            elif kind in took:
                estimates[stage] = fmean(took[kind])
            else:
                return None
        return estimates

    def _ratio(self, kind: str) -> float:
        known = [stage for stage in self._took if _kind(stage) == kind and stage in self.guesses]
        guess = sum(self.guesses[stage] for stage in known)
        return sum(self._took[stage] for stage in known) / guess if guess else 1.0


def counted_parts(names: Sequence[str], unit: str, slots: int = 1) -> Callable[[str], None]:
    """Returns a function to call at the end of each part of a command's work, with its name; it prints the
    progress line, unless all work is QUICK. unit: plural of a part; slots: number of parts at once.
    """
    progress = Progress({f"{unit}@{name}": set() for name in names}, slots, unit=unit)
    waiting, begun = iter(progress.order), time.monotonic()
    for part in islice(waiting, slots):
        progress.start(part)

    def ended(name: str) -> None:
        progress.end(f"{unit}@{name}", "done")
        for part in islice(waiting, 1):
            progress.start(part)
        if time.monotonic() - begun >= QUICK:
            progress.show(last=len(progress.states) == len(progress.order))

    return ended


def duration(seconds: float) -> str:
    """Formats a duration: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _kind(stage: str) -> str:
    return stage.partition("@")[0]
