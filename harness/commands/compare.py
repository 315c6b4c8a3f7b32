"""`sentbench compare`: what moved between two sets of scores, for a reader of a pull request."""

from __future__ import annotations

import argparse
import json
from typing import Any

from harness.commands import add_command


def add_to(commands: Any) -> None:
    """Declares the command."""
    compare = add_command(
        commands, "compare", compare_command, "compare the scores of two revisions or folders"
    )
    compare.add_argument("before", metavar="A", help="a git revision, or a folder of score files")
    compare.add_argument("after", metavar="B", help="a git revision, or a folder of score files")
    compare.add_argument("--json", action="store_true", help="one JSON object on standard output")


def compare_command(arguments: argparse.Namespace) -> None:
    from harness.report.formats.moves import to_json, to_pull_request
    from harness.report.tables.moves import compare
    from harness.results.history import results_of

    names = arguments.before, arguments.after
    moves = compare(results_of(arguments.before), results_of(arguments.after))
    print(json.dumps(to_json(moves, names)) if arguments.json else to_pull_request(moves, names), end="")
