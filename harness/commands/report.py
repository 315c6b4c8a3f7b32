"""`sentbench report`: render tables, figures and the HTML pages.

Example: `sentbench report --strict`
"""

from __future__ import annotations

import argparse

from harness.commands import read_plan
from harness.locks import alone


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("--strict", action="store_true", help="fail if a cell is missing or a score is stale")


def execute(arguments: argparse.Namespace) -> int:
    """Writes the report; returns 1 if `--strict` finds something missing."""
    from harness.stages.report import report

    with alone("the report"):
        return report(read_plan(), strict=arguments.strict)
