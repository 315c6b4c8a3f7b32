"""`sentbench train`: train one run of params.yaml."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.commands import read_plan
from harness.device import add_device_option

AFTER_INTERRUPTION = "with --resume the same command goes on from the last resume point"


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    add_device_option(parser)
    parser.add_argument("--resume", action="store_true", help="continue where a killed run stopped")


def execute(arguments: argparse.Namespace) -> None:
    """Trains the run and prints the folder of its artefact."""
    from harness.stages.train import train

    print(train(read_plan(), arguments.run, arguments.out, device=arguments.device, resume=arguments.resume))
