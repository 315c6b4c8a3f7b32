"""How soon the commands end that people wait for, in a clone of this project with its committed results; the
report also with the results of many more runs, and its memory.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.runner import Disagreement, figure, fresh, run
from harness.paths import SCORES
from harness.report.measurements import BenchmarkResult
from harness.results.store import read_results, write_result

ROOT = Path(__file__).parents[1]
STARTS = {
    "--help": 0.3,
    "list methods": 1.0,
    "plan all --dry-run": 3.0,
    "verify pcl/table2 SimCSE Avg": 0.5,
    "report": 4.0,
}
"""Arguments -> the most seconds."""
MANY_RESULTS, FEW_RESULTS = 20_000, 100
MANY_LIMIT, MANY_LIMIT_MB = 10.0, 500.0


def measure(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the wall time of the commands."""
    with TemporaryDirectory() as place:
        clone = Path(place) / "clone"
        carry_out(["git", "clone", "--quiet", str(ROOT), str(clone)], clone.parent)
        here = ["env", f"PYTHONPATH={clone}", sys.executable, "-m", "harness.cli"]
        sides = {f"sentbench {words}": partial(carry_out, [*here, *words.split()], clone) for words in STARTS}
        runs = run(sides, rounds=rounds, warm=not short)
        count = FEW_RESULTS if short else MANY_RESULTS
        add_results(clone / SCORES, count)
        many = [fresh(cost_of, [*here, "report"], clone) for _ in range(rounds)]
    name = f"sentbench report with {count} more results"
    seconds, megabytes = zip(*many, strict=True)
    return [
        *(
            runs.result(name, name, {}, unit="s", limit=limit)
            for name, limit in zip(sides, STARTS.values(), strict=True)
        ),
        figure(name, "s", seconds, limit=MANY_LIMIT),
        figure(f"memory of {name}", "MB", megabytes, limit=MANY_LIMIT_MB),
    ]


def carry_out(command: Sequence[str], place: Path) -> None:
    """Runs a command. Errors: Disagreement with its error output if it fails."""
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Disagreement(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.strip()}")


def add_results(folder: Path, count: int) -> None:
    """Adds result files of runs that no plan has: the folder's own with other seeds."""
    own = read_results(folder.glob("*.json"))
    for number in range(count):
        result = own[number % len(own)]
        seed = 1000 + number
        key = f"{result.run.id}__{result.run.backbone}__s{seed}"
        run = result.run.model_copy(update={"key": key, "seed": seed})
        write_result(folder / f"{key}.json", result.model_copy(update={"run": run}))


def cost_of(command: list[str], place: Path) -> tuple[float, float]:
    """Returns the seconds of a command and the peak of its memory in MB; called in a fresh process."""
    started = time.perf_counter()
    carry_out(command, place)
    seconds = time.perf_counter() - started
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
