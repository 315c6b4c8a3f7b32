"""`sentbench list`: the names that the other commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.errors import InputError


def listing(what: str, *, coverage: bool = False) -> list[dict[str, Any]]:
    """Returns objects with a `name` and what a reader wants beside it; imports nothing heavy.

    coverage: of the papers' tables, how many rows runs of ours fill.
    """
    if coverage and what != "tables":
        raise InputError(f"--coverage with {what}: expected tables; write `list tables --coverage`")
    if coverage:
        return _coverage()
    return {
        "methods": _methods,
        "tasks": _tasks,
        "runs": _runs,
        "tables": _tables,
        "sources": _sources,
    }[what]()


def _methods() -> list[dict[str, Any]]:
    from methods import METHODS

    return [{"name": name, "class": target} for name, target in sorted(METHODS.items())]


def _tasks() -> list[dict[str, Any]]:
    from harness.tasks import TASKS

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


def _coverage() -> list[dict[str, Any]]:
    from harness.report.tables.coverage import coverage_of, load_not_run
    from harness.report.tables.published import load_published
    from harness.report.tables.spec import load_specs

    folder = Path("leaderboards")
    specs, published = load_specs(folder / "tables"), load_published(folder / "published")
    not_run = load_not_run(folder)
    found = [coverage_of(specs[key], published, not_run) for key in sorted(specs) if "/" in key]
    return [
        {"name": one.table, "rows": one.printed, "run": one.run, "cited": dict(one.cited), "words": one.words}
        for one in found
    ]


def _sources() -> list[dict[str, Any]]:
    from harness.data.sources import SOURCES

    return [
        {"name": name, "kind": source.kind, "tiers": sorted(source.tiers)} for name, source in SOURCES.items()
    ]
