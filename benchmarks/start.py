"""Start of the command: whole processes, file cache warm, beside the imports that it must not pay for."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial

from benchmarks.measurement import Result, alternate, summarised
from benchmarks.processes import output_of

COMMAND = [sys.executable, "-m", "harness.cli"]
LIMITS = {"sentbench --help": 0.3, "sentbench list methods": 1.0}
ARGUMENTS = {"sentbench --help": ["--help"], "sentbench list methods": ["list", "methods"]}
IMPORTS = ("torch", "sentence_transformers", "mteb")


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns the wall time of two commands, with that of importing large libraries for scale."""
    imports = IMPORTS[:1] if short else IMPORTS
    forms = {name: partial(output_of, [*COMMAND, *words]) for name, words in ARGUMENTS.items()}
    forms |= {
        f"import {name}": partial(output_of, [sys.executable, "-c", f"import {name}"]) for name in imports
    }
    for name in ARGUMENTS:
        forms[name]()
    times, rates = alternate(forms, rounds=rounds)
    scale = {name: taken for name, taken in times.items() if name.startswith("import ")}
    return [
        replace(summarised(name, {name: times[name], **scale}, rates, targets={}, unit="s"), limit=limit)
        for name, limit in LIMITS.items()
    ]
