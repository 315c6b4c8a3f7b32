"""Tables and recipes agree: the run that a cell shows has the cell's task, seed and preset."""

from collections.abc import Iterator
from pathlib import Path

from harness.evidence.printed import PublishedRow
from harness.evidence.published import Published
from harness.evidence.spec import CellSpec, ColumnSpec, RunChoice, TableSpec
from harness.plan.names import FULL_SCALE
from harness.plan.recipes import System, declared_systems, load_recipes
from harness.tasks.registry import SUITES

RECIPES = load_recipes(Path(__file__).parents[3] / "recipes")
SYSTEMS = declared_systems(RECIPES)


def tasks_of(system: System) -> set[str]:
    return {task for name in system.tasks for task in SUITES.get(name, (name,))}


def chosen(
    specs: dict[str, TableSpec], published: Published
) -> Iterator[tuple[TableSpec, ColumnSpec, RunChoice, PublishedRow | None]]:
    """Every cell that shows runs, with the published row next to it, if any."""
    for spec in specs.values():
        for row in spec.rows:
            for column in spec.columns:
                choice = spec.choice(row, column)
                if choice is not None:
                    reported = row.cells.get(column.key, CellSpec()).published or row.published
                    named = published.row(spec.published, reported) if spec.published and reported else None
                    yield spec, column, choice, named


def test_every_run_that_a_cell_shows_is_scored_on_its_task(
    specs: dict[str, TableSpec], published: Published
) -> None:
    checked = 0
    for spec, column, choice, _ in chosen(specs, published):
        if column.recipe is None:
            columns = [spec.column(part) for part in column.mean_of] or [column]
            lacking = {part.task for part in columns} - tasks_of(SYSTEMS[choice.system])
            assert not lacking, f"{spec.key}: add {lacking} to the tasks of {choice.system}"
            checked += 1
    assert checked > 1500


def test_a_seed_that_a_cell_shows_is_one_of_its_system(specs: dict[str, TableSpec]) -> None:
    seeded = [choice for spec in specs.values() for choice in spec.choices() if choice.seeds]
    assert len(seeded) > 50
    assert all(set(choice.seeds) <= set(SYSTEMS[choice.system].seeds) for choice in seeded)


def test_no_reported_number_excludes_further_seeds_unless_it_is_about_one_seed(
    specs: dict[str, TableSpec], published: Published
) -> None:
    """A cell that takes seed 42 alone is never settled; UNA's table D7 prints a column a seed."""
    fixed = set()
    for spec, column, choice, named in chosen(specs, published):
        reported = published.table(spec.published).columns if named and spec.published else ()
        if choice.seeds and (column.published or column.key) in reported:
            fixed.add((spec.key, column.key))
            assert (column.key, len(choice.seeds)) == (f"seed-{choice.seeds[0]}", 1)
    assert {key for key, _ in fixed} == {"una/table-d7"}
    assert len(fixed) == 10


PRESETS = {preset: recipe for recipe in RECIPES.values() for preset in recipe.presets}


def test_a_published_value_with_a_preset_is_next_to_a_run_of_that_preset(
    specs: dict[str, TableSpec], published: Published
) -> None:
    """The key of a headline number names its preset; an ablation appears in one table with its headline."""
    actual = [
        (spec.key, choice.system, preset, named.variant or "")
        for spec, _, choice, named in chosen(specs, published)
        if (preset := SYSTEMS[choice.system].preset) and named and named.system == PRESETS[preset].name
    ]
    headline = {(key, preset) for key, _, preset, variant in actual if variant == preset}
    for key, system, preset, variant in actual:
        assert variant, f"{key}: the published row of {system} names no preset"
        if variant in PRESETS:
            assert variant == preset, f"{key}: {variant} is reported next to {system}, a run of {preset}"
        else:
            assert (key, preset) in headline, f"{key}: {system} is a run of {preset}, its table shows another"
    assert {preset for _, _, preset, _ in actual} == {"submission", "published"}
    released = {key for key, _, preset, _ in actual if preset == "published"}
    assert released == {"sct/fig2", "sct/table2", "sct/table3", "una/table-d8"}


def test_every_full_scale_run_is_in_a_table_or_a_group(specs: dict[str, TableSpec]) -> None:
    """A run without a cell costs hours and is shown nowhere."""
    shown = {choice.system for spec in specs.values() for choice in spec.choices()}
    grouped = {system for recipe in RECIPES.values() for group in recipe.groups.values() for system in group}
    full = {key for recipe in RECIPES.values() if FULL_SCALE in recipe.providers for key in recipe.systems}
    assert full - shown - grouped == {"pooled-first-last-avg"}
