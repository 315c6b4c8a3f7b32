"""`sentbench corpus`: pipeline stage that makes a derived corpus.

Example: `sentbench corpus wiki-small-views`
"""

from __future__ import annotations

import argparse

from harness.process import add_device_option, compute_with

CONTINUES = "the same command continues where it stopped"


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("name", help="an entry of `corpora` in params.yaml")
    add_device_option(parser)


def execute(arguments: argparse.Namespace) -> None:
    """Makes corpora/NAME; a killed run continues where it stopped."""
    from harness.plan.entries import read_params

    params = read_params()
    if arguments.name in params.corpora:
        compute_with(params.corpora[arguments.name].arithmetic)
    from harness.stages.corpus import derive

    print(derive(params, arguments.name, device=arguments.device))
