"""`sentbench verify`: say whether one published number holds, by our seeds and those of others.

Example: `sentbench verify una/table1 "BERT-base UNA" Avg`
"""

from __future__ import annotations

import argparse
import json


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("table", metavar="PAPER/TABLE", help="as `sentbench list tables` names it")
    parser.add_argument("row", metavar="ROW", help="title of a row, GROUP TITLE, or its published key")
    parser.add_argument("column", metavar="COLUMN")
    parser.add_argument("--json", action="store_true", help="one JSON list, an object for each row found")


def execute(arguments: argparse.Namespace) -> None:
    """Prints what is known of the number in every row of this name."""
    from harness.assembly.tables import verifications
    from harness.report.verification import to_json, to_text

    known = verifications(arguments.table, arguments.row, arguments.column)
    if arguments.json:
        print(json.dumps([to_json(found) for found in known]))
        return
    print("\n\n".join(to_text(found) for found in known))
