"""`sentbench report`: render tables, figures and the HTML pages."""

import argparse
import gc

from harness.commands.waiting import waiting
from harness.errors import InputError
from harness.io.locks import alone
from harness.plan.params_file import read_plan
from harness.plan.recipes import load_recipes
from harness.plan.stale import warn_if_stale
from harness.report.assembly.tables import build_one_table
from harness.report.formats.text import to_terminal
from harness.stages.report import report

ARGUMENTS = {
    "--print": {
        "metavar": "TABLE",
        "help": "print a table instead of writing the report",
    },
    "--strict": {"action": "store_true", "help": "fail if a cell is missing or a score is stale"},
}


def execute(arguments: argparse.Namespace) -> int:
    """Writes the report, or prints a table; returns 1 if `--strict` finds missing results."""
    if arguments.print and arguments.strict:
        raise InputError("--strict is for the report; --print prints one table without it")
    if arguments.print:
        print(to_terminal(build_one_table(arguments.print)), end="")
        warn_if_stale()
        return 0
    gc.disable()  # a report keeps what it builds until its end: collections would be a sixth of its time
    try:
        with alone("the report"), waiting("writing the report"):
            params, recipes = read_plan(), load_recipes()
            code = report(params, recipes, strict=arguments.strict)
        warn_if_stale(recipes)
    finally:
        gc.enable()
    return code
