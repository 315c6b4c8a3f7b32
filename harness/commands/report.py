"""`sentbench report`: render tables, figures and the HTML pages.

Example: `sentbench report --strict`
"""

from __future__ import annotations

import argparse

from harness.disk.locks import alone
from harness.plan.entries import read_plan


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("--strict", action="store_true", help="fail if a cell is missing or a score is stale")
    parser.add_argument(
        "--first",
        nargs="+",
        metavar="RUN",
        help="only the leaderboard of these runs, written to .cache/first; reports/ stays as it is",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Writes the report; returns 1 if `--strict` finds something missing."""
    if arguments.first:
        from harness.stages.first_results import first_results

        return first_results(read_plan(), arguments.first)
    from harness.stages.report import report

    with alone("the report"):
        return report(read_plan(), strict=arguments.strict)
