"""`sentbench entries`: pipeline stage that gives each entry of params.yaml a file of its own."""

from __future__ import annotations

import argparse
from typing import Any

from harness.commands import add_command


def add_to(commands: Any) -> None:
    """Declares the command."""
    add_command(
        commands, "entries", entries_command, "pipeline stage: one file for each entry of params.yaml"
    )


def entries_command(arguments: argparse.Namespace) -> None:
    """Writes .entries."""
    from harness.plan.entries import read_params
    from harness.stages.entries import write_entries

    print(write_entries(read_params()))
