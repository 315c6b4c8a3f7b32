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
    about = machine(arguments.device, rounds)
    print(json.dumps(about), flush=True)
    try:
        measured = {
            name: _measured(name, rounds, arguments.short, arguments.device)
            for name in arguments.names or BENCHMARKS
        }
    except Disagreement as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    except InputError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    out = arguments.out or (None if arguments.short else RESULTS)
    if out is not None:
        _write(out, about, measured)
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


def _write(path: Path, about: dict[str, object], measured: dict[str, list[Result]]) -> None:
    """Writes the results; those of benchmarks that did not run now stay, if the same machine made them."""
    kept: dict[str, Any] = {}
    if path.is_file():
        before = json.loads(path.read_text(encoding="utf-8"))
        if before["machine"] == about:
            kept = {entry["name"]: entry["results"] for entry in before["benchmarks"]}
    merged = {**kept, **{name: [asdict(result) for result in measured[name]] for name in measured}}
    ordered = [{"name": name, "results": merged[name]} for name in BENCHMARKS if name in merged]
    write_json(path, {"machine": about, "benchmarks": ordered})


if __name__ == "__main__":
    sys.exit(main())
