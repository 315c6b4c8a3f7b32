"""Tables and recipes agree: a cell that runs fill has a declared run, and that run has the cell's task."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.plan.names import FULL_SCALE, fills
from harness.plan.recipes import Recipe, System, load_recipes
from harness.report.tables.spec import ColumnSpec, Selector, TableSpec, run_name
from harness.tasks import SUITES

RECIPES = load_recipes(Path(__file__).parents[3] / "recipes")


class Declared(NamedTuple):
    system: str
    run: tuple[str, str, str]
    tasks: set[str]


def declared(recipes: dict[str, Recipe]) -> list[Declared]:
    entries = [(key, entry) for recipe in recipes.values() for key, entry in recipe.systems.items()]
    return [
        Declared(key, (entry.method, entry.variant, backbone), tasks_of(entry))
        for key, entry in entries
        for backbone in entry.backbones
    ]


def tasks_of(entry: System) -> set[str]:
    return {task for name in entry.tasks for task in SUITES.get(name, (name,))}


def cells(spec: TableSpec) -> Iterator[tuple[Selector, list[ColumnSpec]]]:
    """Every cell that runs fill, with the columns whose scores it needs."""
    for row in spec.rows:
        for column in spec.columns:
            selector = spec.selector(row, column)
            if selector is not None:
                yield selector, [spec.column(key) for key in column.mean_of] or [column]


def wanted(selector: Selector) -> tuple[str | None, str | None, str | None]:
    return selector.method, selector.variant, selector.backbone


def test_every_selector_of_every_table_matches_a_declared_run(specs: dict[str, TableSpec]) -> None:
    runs = declared(RECIPES)
    selectors = {wanted(selector) for spec in specs.values() for selector in spec.selectors()}
    unmatched = {
        run_name(*(part or "*" for part in selector))
        for selector in selectors
        if not any(fills(entry.run, [selector]) for entry in runs)
    }
    assert not unmatched
    assert len(selectors) > 150


def test_every_run_that_fills_a_cell_is_scored_on_its_task(specs: dict[str, TableSpec]) -> None:
    runs, checked = declared(RECIPES), 0
    for key, spec in specs.items():
        for selector, columns in cells(spec):
            for entry in runs:
                if fills(entry.run, [wanted(selector)]):
                    lacking = {column.task for column in columns} - entry.tasks
                    assert not lacking, (
                        f"{key}: add {sorted(map(str, lacking))} to the tasks of {entry.system}"
                    )
                    checked += 1
    assert checked > 500


def test_no_two_systems_of_one_scale_claim_one_cell() -> None:
    """Equal method, variant and backbone under two ids would be refused as soon as both have scores.

    Small-scale recipes are planned one at a time, the full-scale ones together.
    """
    full = {name: recipe for name, recipe in RECIPES.items() if FULL_SCALE in recipe.tiers}
    small = [{name: recipe} for name, recipe in RECIPES.items() if name not in full]
    for group in [full, *small]:
        owners: dict[tuple[str, str, str], str] = {}
        for entry in declared(group):
            assert owners.setdefault(entry.run, entry.system) == entry.system, entry.run
    assert len(full) >= 6
    assert len(small) >= 2
