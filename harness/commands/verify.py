"""`sentbench verify`: say whether one published number holds, and which to cite.

Example: `sentbench verify una/table1 "BERT-base UNA" Avg`
"""

import argparse
import json

from harness.errors import InputError
from harness.evidence.settling import counted
from harness.report.assembly.tables import verifications
from harness.report.verification import Verification, to_json, to_text

MANY = 3
"""More rows than this are listed at the end, by the names that choose one of them."""
ARGUMENTS = {
    "table": {"metavar": "PAPER/TABLE", "help": "as `sentbench list tables` names it"},
    "row": {"metavar": "ROW", "help": "title of a row or how it begins, GROUP TITLE, or its published key"},
    "column": {"metavar": "COLUMN"},
    "--backbone": {"metavar": "NAME", "help": "only rows of this encoder, or of those that begin so"},
    "--json": {"action": "store_true", "help": "one JSON list, an object for each row found"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints the verification of the number in every row of this name."""
    known = verifications(arguments.table, arguments.row, arguments.column)
    if arguments.backbone:
        known = on_backbone(known, arguments.backbone)
    if arguments.json:
        print(json.dumps([to_json(found) for found in known]))
        return
    print("\n\n".join(f"{sentence_of(found)}\n{to_text(found)}" for found in known))
    if len(known) > MANY:
        names = ", ".join(dict.fromkeys(found.reported.row for found in known))
        told = f"{len(known)} rows begin with {arguments.row!r}; name one, or an encoder by --backbone"
        print(f"\n{told}: {names}")


def on_backbone(known: list[Verification], name: str) -> list[Verification]:
    """Returns the numbers of one backbone, or of all with this prefix. Errors: InputError if none matches."""
    backbones = [found.reported.row.partition("@")[2] for found in known]
    wanted = [found for found, one in zip(known, backbones, strict=True) if one == name] or [
        found for found, one in zip(known, backbones, strict=True) if one.startswith(name) and name.strip()
    ]
    if not wanted:
        there = ", ".join(dict.fromkeys(backbones))
        raise InputError(f"--backbone {name}: no such row, expected one of {there}")
    return wanted


def sentence_of(found: Verification) -> str:
    """Returns the independent measurements of the number, in one sentence."""
    independent, pools = found.others.independent, found.others.pools
    if found.ours is not None:
        return f"Our {counted(len(found.values), 'seed')}: {found.verdict}."
    if independent.values:
        runs, sources = (
            counted(len(independent.values), "run"),
            counted(len(independent.sources), "independent source"),
        )
        return f"{runs} of {sources}: {found.verdict}."
    if not found.others.searched:
        return "No search for runs by others is on record."
    others = [kind for kind, pool in pools.items() if pool.studies]
    if set(others) <= {"same authors", "checkpoint"}:
        return "Only its authors have measured it."
    return f"No independent run of its recipe is on record; what is: {', '.join(others)}."
