"""`sentbench teach`: pipeline stage that computes a teacher's vectors of a corpus.

Example: `sentbench teach minilm-l6__wiki-small`
"""

from __future__ import annotations

import argparse

from harness.commands import read_plan
from harness.process import add_device_option, compute_with


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("name", help="an entry of `teachers` in params.yaml")
    add_device_option(parser)


def execute(arguments: argparse.Namespace) -> None:
    """Makes teachers/NAME."""
    params = read_plan()
    if arguments.name in params.teachers:
        compute_with(params.teachers[arguments.name].arithmetic)
    from harness.stages.teacher import teach

    print(teach(params, arguments.name, device=arguments.device))
