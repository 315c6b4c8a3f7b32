"""Start of the command: whole processes, file cache warm, beside the imports that it must not pay for."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import partial

from benchmarks.measurement import Disagreement, Result, alternate, summarised

COMMAND = [sys.executable, "-m", "harness.cli"]
LIMITS = {"sentbench --help": 0.3, "sentbench list methods": 1.0}
ARGUMENTS = {"sentbench --help": ["--help"], "sentbench list methods": ["list", "methods"]}
IMPORTS = ("torch", "sentence_transformers", "mteb")


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns the wall time of two commands, with that of importing large libraries for scale."""
    imports = IMPORTS[:1] if short else IMPORTS
    forms = {name: partial(_run, [*COMMAND, *words]) for name, words in ARGUMENTS.items()}
    forms |= {f"import {name}": partial(_run, [sys.executable, "-c", f"import {name}"]) for name in imports}
    for name in ARGUMENTS:
        forms[name]()
    times, rates = alternate(forms, rounds=rounds)
    scale = {name: taken for name, taken in times.items() if name.startswith("import ")}
    return [
        replace(summarised(name, {name: times[name], **scale}, rates, targets={}, unit="s"), limit=limit)
        for name, limit in LIMITS.items()
    ]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Disagreement(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
