"""`sentbench list`: list the names that the other commands take."""

from __future__ import annotations

import argparse
import json
from typing import Any

from harness.paths import TABLES


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("what", choices=["methods", "tasks", "runs", "tables", "sources"])
    parser.add_argument("--json", action="store_true", help="one JSON list of objects with a name")


def execute(arguments: argparse.Namespace) -> None:
    """Prints one line an entry, or one JSON list."""
    entries = listing(arguments.what)
    if arguments.json:
        print(json.dumps(entries))
        return
    for entry in entries:
        print("  ".join(str(value) for value in entry.values()))


def listing(what: str) -> list[dict[str, Any]]:
    """Returns objects with a `name` and what a reader wants beside it; imports nothing heavy."""
    return {
        "methods": _methods,
        "tasks": _tasks,
        "runs": _runs,
        "tables": _tables,
        "sources": _sources,
    }[what]()


def _methods() -> list[dict[str, Any]]:
    from methods.registry import METHODS

    return [{"name": name, "module": target} for name, target in sorted(METHODS.items())]


def _tasks() -> list[dict[str, Any]]:
    from harness.tasks.registry import TASKS

    return [{"name": name} for name in TASKS]


def _runs() -> list[dict[str, Any]]:
    from harness.plan.entries import read_params

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


def _tables() -> list[dict[str, Any]]:
    from harness.report.tables.spec import load_specs

    specs = load_specs(TABLES)
    return [{"name": key, "kind": spec.kind, "title": spec.title} for key, spec in sorted(specs.items())]


def _sources() -> list[dict[str, Any]]:
    from harness.data.sources import SOURCES

    return [
        {"name": name, "kind": source.kind, "tiers": sorted(source.tiers)} for name, source in SOURCES.items()
    ]
