"""Tables and recipes agree: the run that a cell shows has the cell's task."""

from __future__ import annotations

from pathlib import Path

from harness.plan.recipes import System, declared_systems, load_recipes
from harness.report.tables.spec import TableSpec
from harness.tasks.registry import SUITES

SYSTEMS = declared_systems(load_recipes(Path(__file__).parents[3] / "recipes"))


def tasks_of(system: System) -> set[str]:
    return {task for name in system.tasks for task in SUITES.get(name, (name,))}


def test_every_run_that_a_cell_shows_is_scored_on_its_task(specs: dict[str, TableSpec]) -> None:
    checked = 0
    for key, spec in specs.items():
        for row in spec.rows:
            for column in spec.columns:
                choice = spec.choice(row, column)
                if choice is not None:
                    columns = [spec.column(part) for part in column.mean_of] or [column]
                    lacking = {part.task for part in columns} - tasks_of(SYSTEMS[choice.system])
                    assert not lacking, f"{key}: add {lacking} to the tasks of {choice.system}"
                    checked += 1
    assert checked > 1500


def test_a_seed_that_a_column_shows_is_one_of_its_system(specs: dict[str, TableSpec]) -> None:
    seeded = [choice for spec in specs.values() for choice in spec.choices() if choice.seed is not None]
    assert len(seeded) >= 20
    assert all(choice.seed in SYSTEMS[choice.system].seeds for choice in seeded)
