"""`sentbench train`: train one run of params.yaml.

Example: `sentbench train simcse-small__minilm-l2__s0 --out artefacts/simcse-small__minilm-l2__s0 --resume`
"""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.commands import read_plan
from harness.process import add_device_option, compute_with

CONTINUES = "the same command with --resume continues the training to the same bytes"


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    add_device_option(parser)
    parser.add_argument("--resume", action="store_true", help="continue where a killed run stopped")


def execute(arguments: argparse.Namespace) -> None:
    """Trains the run and prints the folder of its artefact."""
    params = read_plan()
    compute_with(params.run(arguments.run).arithmetic)
    from harness.stages.train import train

    print(train(params, arguments.run, arguments.out, device=arguments.device, resume=arguments.resume))
