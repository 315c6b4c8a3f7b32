"""How soon the commands end that people wait for, in a clone of this project with its committed results."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.runner import output_of, run
from harness.report.measurements import BenchmarkResult

ROOT = Path(__file__).parents[1]
STARTS = {
    "--help": 0.3,
    "list methods": 1.0,
    "plan all --dry-run": 3.0,
    "verify pcl/table2 SimCSE Avg": 0.5,
    "report": 4.0,
}
"""Arguments -> the most seconds."""
IMPORTS = ("torch", "sentence_transformers", "mteb")


def measure(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the wall time of the commands, with that of importing large libraries for scale."""
    scale = {
        f"import {name}": partial(output_of, [sys.executable, "-c", f"import {name}"])
        for name in (IMPORTS[:1] if short else IMPORTS)
    }
    with TemporaryDirectory() as place:
        clone = Path(place) / "clone"
        output_of(["git", "clone", "--quiet", str(ROOT), str(clone)])
        here = ["env", f"PYTHONPATH={clone}", sys.executable, "-m", "harness.cli"]
        sides = {f"sentbench {words}": partial(output_of, [*here, *words.split()], clone) for words in STARTS}
        runs = run({**sides, **scale}, rounds=rounds, warm=not short)
    peers = dict.fromkeys(scale)
    return [
        runs.result(name, name, peers, unit="s", limit=limit)
        for name, limit in zip(sides, STARTS.values(), strict=True)
    ]
