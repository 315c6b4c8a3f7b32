"""`sentbench verify`: say whether one published number holds, by our seeds and those of others.

Example: `sentbench verify una/table1 "BERT-base UNA" Avg`
"""

import argparse
import json

from harness.assembly.tables import verifications
from harness.report.verification import to_json, to_text

ARGUMENTS = {
    "table": {"metavar": "PAPER/TABLE", "help": "as `sentbench list tables` names it"},
    "row": {"metavar": "ROW", "help": "title of a row, GROUP TITLE, or its published key"},
    "column": {"metavar": "COLUMN"},
    "--json": {"action": "store_true", "help": "one JSON list, an object for each row found"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints what is known of the number in every row of this name."""
    known = verifications(arguments.table, arguments.row, arguments.column)
    if arguments.json:
        print(json.dumps([to_json(found) for found in known]))
        return
    print("\n\n".join(map(to_text, known)))
