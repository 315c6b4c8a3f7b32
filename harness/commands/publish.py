"""`sentbench publish`: runs of one system as a folder for others, with a model card."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from harness.commands import add_command


def add_to(commands: Any) -> None:
    """Declares the command."""
    publish = add_command(
        commands, "publish", publish_command, "make a sentence-transformers folder with a model card"
    )
    publish.add_argument("runs", nargs="+", metavar="RUN", help="runs of one system, or the system for all")
    publish.add_argument("--out", type=Path, required=True, metavar="DIR")
    publish.add_argument("--licence", help="licence of the weights; default: that of the backbone's source")


def publish_command(arguments: argparse.Namespace) -> None:
    from harness.plan.entries import read_params
    from harness.stages.publish import publish

    print(publish(read_params(), arguments.runs, arguments.out, licence=arguments.licence))
