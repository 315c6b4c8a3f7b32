"""`sentbench fingerprint`: pipeline stage that writes the identity of code or data.

Example: `sentbench fingerprint --data selection-senteval`
"""

from __future__ import annotations

import argparse

from harness.commands import read_plan


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("--data", metavar="NAME", help="the sources of this entry of `reads`, not the code")


def execute(arguments: argparse.Namespace) -> None:
    """Writes files of .fingerprints."""
    from harness.stages.fingerprint import write_code_fingerprints, write_data_fingerprint

    if arguments.data:
        print(write_data_fingerprint(read_plan(), arguments.data))
        return
    for path in write_code_fingerprints(read_plan()):
        print(path)
