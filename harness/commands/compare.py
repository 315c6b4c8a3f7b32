"""`sentbench compare`: show what moved between two sets of scores."""

from __future__ import annotations

import argparse
import json


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("before", metavar="A", help="a git revision, or a folder of score files")
    parser.add_argument("after", metavar="B", help="a git revision, or a folder of score files")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def execute(arguments: argparse.Namespace) -> None:
    """Prints the moves as Markdown or JSON."""
    from harness.report.formats.moves import to_json, to_pull_request
    from harness.report.tables.moves import compare
    from harness.results.history import results_of

    names = arguments.before, arguments.after
    moves = compare(results_of(arguments.before), results_of(arguments.after))
    print(json.dumps(to_json(moves, names)) if arguments.json else to_pull_request(moves, names), end="")
