"""`sentbench verify`: say whether one published number holds, by our seeds and those of others.

Example: `sentbench verify una/table1 "BERT-base UNA" Avg`
"""

import argparse
import json

from harness.assembly.tables import verifications
from harness.launch.progress import duration
from harness.plan import estimate
from harness.plan.prices import seed_prices
from harness.plan.recipes import load_recipes
from harness.plan.step_times import read_step_times
from harness.report.verification import Verification, to_json, to_text

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
    print("\n\n".join("\n".join([to_text(found), *hours_here(found)]) for found in known))


def hours_here(known: Verification) -> list[str]:
    """Returns the line that says how long the advised seeds take on this machine, where it was measured."""
    plan = known.plan
    if plan is None or not plan.more or plan.seeds is None or not read_step_times().here:
        return []
    command = plan.command.partition(" --seeds ")[0]
    systems = [word.partition("/")[2] for word in command.split() if "/" in word]
    prices = {price.command: price for price in seed_prices(load_recipes(), "cpu", systems).values()}
    if command not in prices or not prices[command].is_known:
        return []
    needed = prices[command]._replace(done=plan.seeds - plan.more).items(plan.seeds)
    told, cores = duration(3600 * sum(needed.values())), estimate.cores_here()
    return [f"here       {told} on its {cores} cores, by `sentbench calibrate`"]
