"""`sentbench schema`: print the JSON Schema of a kind of declared file, which editors complete and check by.

Example: `sentbench schema recipe`
"""

import argparse
import json
from importlib import import_module
from typing import Any

from harness.disk.files import write_text
from harness.paths import LEADERBOARDS, need_checkout

SCHEMAS = LEADERBOARDS / "schemas"
KINDS = {
    "recipe": "harness.plan.recipes:RecipeFile",
    "params": "harness.plan.entries:Params",
    "table": "harness.facts.spec:TableSpec",
    "published": "harness.facts.published:PublishedPaper",
    "evidence": "harness.facts.evidence.ledger:StudyFile",
    "claims": "harness.report.pages.claims:PaperClaims",
    "audit": "harness.report.pages.audit:MethodAudit",
}
"""Kind of file -> the model that reads it."""
ARGUMENTS = {
    "kind": {"choices": list(KINDS), "metavar": "KIND", "help": ", ".join(KINDS)},
    "--write": {"action": "store_true", "help": f"write all kinds to {SCHEMAS} instead"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints one schema, or writes all of them."""
    if not arguments.write:
        print(text_of(arguments.kind), end="")
        return
    need_checkout("writing the schemas")
    for kind in KINDS:
        write_text(SCHEMAS / f"{kind}.json", text_of(kind))


def text_of(kind: str) -> str:
    """Returns the schema of a kind of file as JSON text."""
    module, _, name = KINDS[kind].partition(":")
    schema: dict[str, Any] = getattr(import_module(module), name).model_json_schema()
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**dialect, **schema}, indent=1) + "\n"
