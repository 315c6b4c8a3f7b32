"""Commands that a benchmark starts, what they answer, and how much memory this process holds (Linux)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measurement import Disagreement


def output_of(command: Sequence[str], place: Path | None = None) -> str:
    """Returns what a command wrote; one that fails stops the benchmark with all that it said of it."""
    done = _finished(command, place, {"DVC_NO_ANALYTICS": "1"})
    return done.stdout + done.stderr


def answer_of(module: str, *words: str, **settings: str) -> dict[str, Any]:
    """Returns the JSON in the last line that a module of benchmarks/ prints, run in a fresh process.

    settings: environment variables of that process beside those of this one.
    """
    done = _finished([sys.executable, "-m", module, *words], None, settings)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _finished(
    command: Sequence[str], place: Path | None, settings: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **settings}
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise Disagreement(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.strip()}")
    return done


def resident(field: str) -> int:
    """Returns a line of this process's memory status in bytes: VmRSS now, VmHWM the peak, RssAnon private."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def forget_peak() -> None:
    """Sets the peak to what is resident now."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
