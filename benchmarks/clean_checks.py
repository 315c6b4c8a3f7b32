"""`python -m benchmarks.clean_checks`: holds the code as it is against its probes, under other arithmetic.

`sentbench check` must say nothing of a machine that only computes in another order. So every probe is
measured under each mix of threads, products (oneDNN's or torch's own) and vector instructions, each in a
process of its own, for torch reads these settings once. A number that differs is a false alarm. No part of a
test: it takes minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from harness.files import write_text

REPORT = Path("reports/clean-checks.md")
THREADS = (1, 2, 3, 4)
INSTRUCTIONS = {
    "the processor's": {},
    "AVX2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
    "none wider than SSE4.1": {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    },
}
"""Vector instructions -> what makes torch, oneDNN and MKL use them."""


class Arithmetic(NamedTuple):
    """One way of computing. instructions: a key of INSTRUCTIONS."""

    threads: int
    onednn: bool
    instructions: str


WAYS = tuple(Arithmetic(*way) for way in product(THREADS, (True, False), INSTRUCTIONS))


def main() -> int:
    """Writes the table; returns 1 if there is a false alarm, else 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clean_checks", description=__doc__)
    parser.add_argument("--out", type=Path, default=REPORT, metavar="FILE")
    parser.add_argument(
        "--way", type=int, choices=range(len(WAYS)), help="print what differs in one way alone"
    )
    arguments = parser.parse_args()
    if arguments.way is not None:
        print(json.dumps(differences_in(WAYS[arguments.way])))
        return 0
    found = dict(measured())
    write_text(arguments.out, as_markdown(found))
    print(f"{arguments.out}: {sum(map(bool, found.values()))} of {len(found)} checks give a false alarm")
    return 1 if any(found.values()) else 0


def measured() -> Iterator[tuple[Arithmetic, list[str]]]:
    """Yields each way of computing and the lines that `sentbench check` would print."""
    for place, way in enumerate(WAYS):
        command = [sys.executable, "-m", "benchmarks.clean_checks", "--way", str(place)]
        done = subprocess.run(
            command,
            env=os.environ | INSTRUCTIONS[way.instructions],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        lines = json.loads(done.stdout.splitlines()[-1])
        print(f"{way}: {len(lines)} numbers differ {lines[:1]}", flush=True)
        yield way, lines


def differences_in(way: Arithmetic) -> list[str]:
    """Returns the lines of all probes, measured in this process with these threads and products."""
    from harness.paths import PROBES
    from harness.plan.entries import read_params
    from harness.stages.probe_file import arithmetic, differences, read_probes
    from harness.stages.probes import measure_probe

    params, known = read_params(), read_probes(PROBES)
    with arithmetic(way.threads, onednn=way.onednn):
        return [
            line for name in known for line in differences(name, known[name], measure_probe(params, name))
        ]


def as_markdown(found: dict[Arithmetic, list[str]]) -> str:
    """Returns the table of all ways."""
    alarms = sum(map(bool, found.values()))
    lines = [
        "# False alarms of the check",
        "",
        f"`python -m benchmarks.clean_checks`: {alarms} of {len(found)} checks of the code as it is name a",
        "number that differs from `leaderboards/probes.yaml`.",
        "",
        "| threads | products | vector instructions | numbers that differ |",
        "| --: | :-- | :-- | :-- |",
    ]
    for way, said in found.items():
        products = "oneDNN's" if way.onednn else "torch's own"
        first = f"{len(said)}, first: {said[0].replace('|', '/')}" if said else "0"
        lines.append(f"| {way.threads} | {products} | {way.instructions} | {first} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
