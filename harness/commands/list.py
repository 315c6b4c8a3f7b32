"""`sentbench list`: list the names that other commands take."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from harness.paths import TABLES, declared

if TYPE_CHECKING:
    from harness.data.sources import Source
WHAT = ("methods", "tasks", "runs", "tables", "sources")
ARGUMENTS = {
    "what": {"choices": WHAT, "metavar": f"{{{','.join(WHAT)}}}"},
    "--json": {"action": "store_true", "help": "one JSON list of objects with a name"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints one line per entry, or one JSON list."""
    entries = listing(arguments.what)
    if arguments.json:
        print(json.dumps(entries))
        return
    keys = list(next(iter(entries), {}))
    rows = [[_shown(entry[key]) for key in keys] for entry in entries]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return "-" if value is None else str(value)


def listing(what: str) -> list[dict[str, Any]]:
    """Returns objects with a `name` and further columns, without heavy imports."""
    if what == "methods":
        from methods.registry import METHODS

        return [{"name": name, "module": target} for name, target in sorted(METHODS.items())]
    if what == "tasks":
        from harness.tasks.registry import SUITES, TASKS

        tasks = [{"name": name, "suite": task.suite or None, "tasks": None} for name, task in TASKS.items()]
        return tasks + [{"name": name, "suite": None, "tasks": [*names]} for name, names in SUITES.items()]
    if what == "sources":
        from harness.data.sources import SOURCES

        return [_source(source) for source in SOURCES.values()]
    if what == "runs":
        return _runs()
    from harness.evidence.spec import load_specs

    specs = load_specs(declared(TABLES))
    return [{"name": key, "kind": spec.kind, "title": spec.title} for key, spec in sorted(specs.items())]


def _runs() -> list[dict[str, Any]]:
    from harness.plan.params_file import read_params

    return [
        {
            "name": key,
            "method": run.method,
            "variant": run.variant,
            "backbone": run.backbone_name,
            "seed": run.seed,
        }
        for key, run in read_params().runs.items()
    ]


def _source(source: Source) -> dict[str, Any]:
    from harness.data.sources import LOCKS

    hub, lock = source.providers.get("hub"), LOCKS.get(source.name)
    known = set(lock.files if lock else ()).union(
        *(provider.sha256 for provider in source.providers.values())
    )
    if any(
        provider.inputs and None not in provider.inputs.values() for provider in source.providers.values()
    ):
        known = set(source.files)
    return {
        "name": source.name,
        "kind": source.kind,
        "providers": sorted(source.providers),
        "repository": hub.repo if hub else None,
        "revision": lock.commit if lock else hub.revision if hub else None,
        "hashes": len(known),
        "files": len(source.files),
        "licence": source.licence,
        "confirmed": source.confirmed,
    }
