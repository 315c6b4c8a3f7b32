"""`sentbench list`: the names that the other commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Any


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

    return [{"name": name, "class": target} for name, target in sorted(METHODS.items())]


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

    specs = load_specs(Path("leaderboards/tables"))
    return [{"name": key, "kind": spec.kind, "title": spec.title} for key, spec in sorted(specs.items())]


def _sources() -> list[dict[str, Any]]:
    from harness.data.sources import SOURCES

    return [
        {"name": name, "kind": source.kind, "tiers": sorted(source.tiers)} for name, source in SOURCES.items()
    ]
