"""`sentbench report`: render tables, figures and the HTML pages.

Example: `sentbench report --strict`
"""

import argparse

from harness.disk.locks import alone
from harness.plan.entries import read_plan
from harness.stages.report import report

ARGUMENTS = {
    "--strict": {"action": "store_true", "help": "fail if a cell is missing or a score is stale"},
}


def execute(arguments: argparse.Namespace) -> int:
    """Writes the report; returns 1 if `--strict` finds something missing."""
    with alone("the report"):
        return report(read_plan(), strict=arguments.strict)
