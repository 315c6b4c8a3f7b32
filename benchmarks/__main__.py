"""`python -m benchmarks [NAME...]`: measures, prints, and writes reports/benchmarks.json for the report."""

import argparse
import json
import sys
import time
from importlib import import_module
from pathlib import Path

import torch

from benchmarks import BENCHMARKS
from benchmarks.runner import Disagreement, keep, machine, measured, product_rates, software
from harness.errors import InputError
from harness.paths import MEASUREMENTS
from harness.report.measurements import BenchmarkResult


def main() -> int:
    """Returns 0 if all sides agree, 1 if two differ, 2 for bad input; a missed target is not a failure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--rounds", type=int, default=5, help="measurements of every side (default 5)")
    parser.add_argument(
        "--short", action="store_true", help="small sizes, one round: only check that the sides agree"
    )
    written = f"JSON to write or update (default {MEASUREMENTS}; with --short none)"
    parser.add_argument("--out", type=Path, metavar="FILE", help=written)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}, expected {', '.join(BENCHMARKS)}")
    if arguments.short:
        torch.set_num_threads(1)
    rounds, threads = 1 if arguments.short else arguments.rounds, torch.get_num_threads()
    print(json.dumps({**machine(arguments.device), "rounds": rounds, "threads": threads, **software()}))
    out = arguments.out or (None if arguments.short else MEASUREMENTS)
    try:
        if out is not None:  # refuses an invalid file before any work
            rates = product_rates(arguments.device, rounds)
            ours, torchs = rates.onednn.median, rates.torch.median
            print(f"GFLOP/s of products: {ours:.0f} by oneDNN, {torchs:.0f} by torch")
            keep(out, arguments.device, rates)
        for name in arguments.names or BENCHMARKS:
            results = run_benchmark(name, rounds, arguments.short, arguments.device)
            if out is not None:
                keep(out, arguments.device, measured(name, rounds, results))
    except (Disagreement, InputError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    return 0


def run_benchmark(name: str, rounds: int, short: bool, device: str) -> list[BenchmarkResult]:
    """Runs a benchmark, prints and returns its results."""
    started = time.monotonic()
    results: list[BenchmarkResult] = import_module(f"benchmarks.{name}").measure(rounds, short, device)
    for result in results:
        print("\n".join(result.lines()), flush=True)
    print(f"-- {name}: {time.monotonic() - started:.0f} s in all", flush=True)
    return results


if __name__ == "__main__":
    sys.exit(main())
