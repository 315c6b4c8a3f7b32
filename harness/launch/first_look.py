"""A command that runs next to the stages as soon as some of them are over: it shows first results."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.launch.worker import end_with_parent, last_line

OVER = {"done", "restored", "unchanged"}


@dataclass
class FirstLook:
    """The command, and the stages that it needs; it is no stage itself, so nothing of it is recorded."""

    stages: frozenset[str]
    command: Sequence[str]
    log: Path
    """Where the command prints; it is shown once the command has ended."""
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _over: bool = field(default=False, init=False)

    def look(self, states: Mapping[str, str]) -> str:
        """Starts the command if it is due; returns what it printed if it has ended since the last call.

        It is due once: when all of its stages are over and at least one of them was run or restored. A
        command that fails gives one line and does no harm to the launch.
        """
        if self._process is None:
            found = {states.get(stage) for stage in self.stages}
            if not self._over and found <= OVER and found & {"done", "restored"}:
                self._begin()
            return ""
        code = self._process.poll()
        if code is None:
            return ""
        self._process = None
        if code == 0:
            return self.log.read_text(encoding="utf-8").rstrip()
        return f"no first results: {last_line(self.log) or f'exit code {code}'}"

    def close(self) -> None:
        """Ends the command if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _begin(self) -> None:
        self._over = True
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=end_with_parent,
                start_new_session=True,
            )
