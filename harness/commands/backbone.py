"""`sentbench backbone`: pipeline stage that makes a backbone.

Example: `sentbench backbone minilm-l2`
"""

from __future__ import annotations

import argparse

from harness.commands import read_plan


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("name", help="an entry of `backbones` in params.yaml")


def execute(arguments: argparse.Namespace) -> None:
    """Makes backbones/NAME."""
    from harness.stages.backbone import make_backbone

    print(make_backbone(read_plan(), arguments.name))
