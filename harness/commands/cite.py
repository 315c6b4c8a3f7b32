"""`sentbench cite`: say which number to cite for a baseline, with its interval and BibTeX.

Example: `sentbench cite SimCSE --backbone bert-base-uncased`
"""

import argparse
import json
from typing import Any

from harness.assembly.tables import citations, reported_systems
from harness.commands import JSON
from harness.errors import InputError, near_matches
from harness.report.cite import Advice, project_entry, to_text

ARGUMENTS = {
    "system": {"metavar": "SYSTEM", "help": "as in `sentbench list published`, such as simcse"},
    "--backbone": {"required": True, "metavar": "NAME", "help": "such as bert-base-uncased"},
    "--column": {"default": "Avg", "metavar": "NAME", "help": "default: Avg"},
    "--json": JSON,
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints the value to cite for every distinct number that is reported of the system."""
    known = reported_systems()
    wanted = f"{arguments.system}@{arguments.backbone}".lower()
    if wanted not in known:
        raise InputError(
            f"no number of {arguments.system} on {arguments.backbone} is published here"
            f"{near_matches(wanted, sorted(known))}; correct the names"
        )
    found = citations(arguments.system, arguments.backbone, arguments.column)
    if not found:
        raise InputError(f"{wanted} has no reported score in column {arguments.column!r}; name another one")
    if arguments.json:
        print(json.dumps([to_json(advice) for advice in found]))
        return
    print("\n\n".join(to_text(advice, project_entry()) for advice in found))


def to_json(advice: Advice) -> dict[str, Any]:
    """Returns the advice as plain values, numbers in points."""
    values = {
        value.kind: {
            "value": value.value,
            "interval": None if value.interval is None else list(value.interval),
            "how": value.how,
        }
        for value in advice.values
    }
    return {
        "reported": advice.found.reported.value,
        "table": advice.found.reported.table,
        "verdict": advice.found.verdict,
        "cite": advice.recommended.kind,
        "why": advice.why,
        "values": values,
        "bibtex": advice.bibtex,
    }
