"""`sentbench teach`: pipeline stage that computes a teacher's vectors of a corpus.

Example: `sentbench teach minilm-l6__wiki-small`
"""

from __future__ import annotations

import argparse

from harness.commands import read_plan
from harness.device import add_device_option


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("name", help="an entry of `teachers` in params.yaml")
    add_device_option(parser)


def execute(arguments: argparse.Namespace) -> None:
    """Makes teachers/NAME."""
    from harness.stages.teacher import teach

    print(teach(read_plan(), arguments.name, device=arguments.device))
