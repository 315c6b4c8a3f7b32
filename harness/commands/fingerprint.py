"""`sentbench fingerprint`: pipeline stage that writes the identity of code or data."""

from __future__ import annotations

import argparse

from harness.commands import read_plan


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("name")
    parser.add_argument("--data", action="store_true", help="NAME is an entry of `reads`, not of `code`")


def execute(arguments: argparse.Namespace) -> None:
    """Writes one file of .fingerprints."""
    from harness.stages.fingerprint import write_code_fingerprint, write_data_fingerprint

    write = write_data_fingerprint if arguments.data else write_code_fingerprint
    print(write(read_plan(), arguments.name))
