"""`sentbench gpu-check`: check every method on this machine's GPU: losses, waits, resume, memory, speed.

Without a GPU it runs at a tiny size on a simulated device. benchmarks/gpu_check.py does the work.

Example: `sentbench gpu-check --method simcse`
"""

import argparse
import subprocess
import sys
from pathlib import Path

from harness.disk.outputs import check_file
from harness.facts.published import known_name
from harness.paths import need_checkout
from methods.registry import METHODS

ARGUMENTS = {
    "--method": {"action": "append", "metavar": "NAME", "help": "may be repeated; default: all"},
    "--out": {"type": Path, "metavar": "FILE", "help": "default: reports/benchmarks.json; only with a GPU"},
}


def execute(arguments: argparse.Namespace) -> int:
    """Returns 0 if all results are within their limits, 1 if one is not."""
    need_checkout("the check of a GPU")
    methods = [known_name(name, METHODS, "method") for name in arguments.method or ()]
    words = [word for name in methods for word in ("--method", name)]
    if arguments.out:
        words += ["--out", str(check_file(arguments.out, keys=["machines"]))]
    return subprocess.run([sys.executable, "-m", "benchmarks.gpu_check", *words], check=False).returncode
