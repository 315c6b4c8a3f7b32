"""`sentbench gpu-check`: check every method on this machine's GPU: losses, waits, resume, memory, speed.

Without a GPU it runs at a tiny size on a simulated device. benchmarks/gpu_check.py does the work.

Example: `sentbench gpu-check --method simcse`
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from harness.paths import need_checkout


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("--method", action="append", metavar="NAME", help="may be repeated; default: all")
    parser.add_argument("--out", metavar="FILE", help="default: reports/benchmarks.json; only with a GPU")


def execute(arguments: argparse.Namespace) -> int:
    """Returns 0 if all results are within their limits, 1 if one is not."""
    need_checkout("the check of a GPU")
    words = [word for name in arguments.method or () for word in ("--method", name)]
    words += ["--out", arguments.out] if arguments.out else []
    return subprocess.run([sys.executable, "-m", "benchmarks.gpu_check", *words], check=False).returncode
