"""`python -m benchmarks [NAME...]`: measures, prints, and writes reports/benchmarks.json for the report."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import time
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from benchmarks import BENCHMARKS
from benchmarks.measurement import Disagreement, Result, machine
from harness.errors import InputError
from harness.files import write_json
from harness.records import sealed

RESULTS = Path("reports/benchmarks.json")
SHORT_ROUNDS = 1


def main() -> int:
    """Returns 0 if all sides agree, 1 if two differ, 2 for bad input; a missed target fails nothing."""
    parser = _parser()
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}, expected {', '.join(BENCHMARKS)}")
    torch.set_num_threads(arguments.threads)
    rounds = SHORT_ROUNDS if arguments.short else arguments.rounds
    about = machine(arguments.device)
    print(json.dumps({**about, "rounds": rounds, "threads": arguments.threads}), flush=True)
    out = arguments.out or (None if arguments.short else RESULTS)
    try:
        for name in arguments.names or BENCHMARKS:
            results = _measured(name, rounds, arguments.short, arguments.device)
            if out is not None:
                _write(out, about, name, results, rounds=rounds, threads=arguments.threads)
    except Disagreement as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    except InputError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--rounds", type=int, default=5, help="measurements of every side (default 5)")
    parser.add_argument("--short", action="store_true", help="small sizes, one round: do the sides agree?")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help=f"JSON to write or update (default {RESULTS}; with --short none)",
    )
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    return parser


def _measured(name: str, rounds: int, short: bool, device: str) -> list[Result]:
    measure = import_module(f"benchmarks.{name}").measure
    given: dict[str, Any] = {"device": device} if "device" in inspect.signature(measure).parameters else {}
    if device != "cpu" and not given:
        print(f"{name}: runs on a CPU only, left out")
        return []
    started = time.monotonic()
    results: list[Result] = measure(rounds, short, **given)
    for result in results:
        print("\n".join(result.lines()), flush=True)
    print(f"-- {name}: {time.monotonic() - started:.0f} s in all", flush=True)
    return results


def _write(
    path: Path, about: dict[str, object], name: str, results: list[Result], *, rounds: int, threads: int
) -> None:
    """Writes the results of one benchmark; those of others stay, if the same machine made them."""
    kept: dict[str, Any] = {}
    if path.is_file():
        before = json.loads(path.read_text(encoding="utf-8"))
        if before["machine"] == about:
            kept = {entry["name"]: entry for entry in before["benchmarks"]}
    lines = [asdict(result) for result in results]
    kept[name] = {"name": name, "rounds": rounds, "threads": threads, "results": lines}
    ordered = [kept[name] for name in BENCHMARKS if name in kept]
    write_json(path, sealed({"machine": about, "benchmarks": ordered}))


if __name__ == "__main__":
    sys.exit(main())
