"""`sentbench entries`: pipeline stage that gives each entry of params.yaml a file of its own.

Example: `sentbench entries`
"""

from __future__ import annotations

import argparse


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares no argument."""


def execute(arguments: argparse.Namespace) -> None:
    """Writes .entries."""
    from harness.plan.entries import read_params
    from harness.stages.entries import write_entries

    print(write_entries(read_params()))
