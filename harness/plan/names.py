"""What a plan name asks for: a recipe, one of its systems, a table or figure of a paper, or everything."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from harness.errors import InputError, near_matches
from harness.plan.ladder import PREFIX, find_ladder
from harness.plan.recipes import Recipe, System, declared_systems

CellRuns = tuple[str | None, str | None, str | None]
"""Which runs fill a cell: method, variant, backbone; None stands for any."""

FULL_SCALE = "hub"
"""Recipes that do not read from this tier are no part of `all`: they show no paper's setting."""


def select(
    recipes: Mapping[str, Recipe],
    names: Iterable[str],
    cells: Mapping[str, Collection[CellRuns]] | None = None,
) -> dict[str, System]:
    """Returns the union of the systems that plan names ask for, each with the backbones wanted.

    A name is a recipe, `recipe/id`, `paper/table2`, `paper/fig3`, `ladder/id`, or `all`. cells: for every
    table and figure what fills its cells. A table takes of each system only the backbones it shows, and
    beside these the systems that the paper's recipe lists for it.
    Errors: InputError for a name that is none of these, with near matches.
    """
    cells = cells or {}
    chosen: dict[str, System] = {}
    for name in names:
        for system, entry in _named(recipes, name, cells).items():
            known = chosen[system].backbones if system in chosen else []
            chosen[system] = entry.on(list(dict.fromkeys([*known, *entry.backbones])))
    return chosen


def _named(
    recipes: Mapping[str, Recipe], name: str, cells: Mapping[str, Collection[CellRuns]]
) -> dict[str, System]:
    recipe_name, _, part = name.partition("/")
    if name == "all":
        full = [recipe for recipe in recipes.values() if FULL_SCALE in recipe.tiers]
        return {system: entry for recipe in full for system, entry in recipe.systems.items()}
    if recipe_name == PREFIX and part:
        return find_ladder(part, declared_systems(recipes))
    if name in recipes:
        return recipes[name].systems
    recipe = recipes.get(recipe_name)
    if recipe and part in recipe.systems:
        return {part: recipe.systems[part]}
    table = _table_key(name, cells)
    listed = _listed(recipes, recipe, part) if recipe else None
    if table is None and listed is None:
        raise InputError(_unknown(recipes, name, cells))
    found = _that_fill(recipes, cells[table]) if table else {}
    return {**(listed or {}), **found}


def _table_key(name: str, cells: Collection[str]) -> str | None:
    """Returns the table's key; a figure may be written out."""
    written = name.replace("/figure", "/fig")
    return written if written in cells else None


def _that_fill(recipes: Mapping[str, Recipe], wanted: Collection[CellRuns]) -> dict[str, System]:
    """Returns the declared systems that fill cells, each with only the backbones that do."""
    found: dict[str, System] = {}
    for recipe in recipes.values():
        for system, entry in recipe.systems.items():
            backbones = [
                backbone
                for backbone in entry.backbones
                if fills((entry.method, entry.variant, backbone), wanted)
            ]
            if backbones:
                found[system] = entry.on(backbones)
    return found


def fills(run: tuple[str, str, str], wanted: Collection[CellRuns]) -> bool:
    """Returns whether a run of this method, variant and backbone fills one of the cells."""
    return any(all(want in (None, have) for want, have in zip(cell, run, strict=True)) for cell in wanted)


def _listed(recipes: Mapping[str, Recipe], recipe: Recipe, part: str) -> dict[str, System] | None:
    """Returns the systems that a recipe lists for a table, None if it lists no such table."""
    table = next((key for key in (part, part.replace("fig", "figure")) if key in recipe.tables), None)
    if table is None:
        return None
    found = {}
    for name in recipe.tables[table]:
        owner, _, system = name.rpartition("/")
        place = recipes.get(owner or recipe.name)
        if place is None or system not in place.systems:
            raise InputError(
                f"{recipe.name}/{table} names {name!r}, which no recipe declares; correct the recipe"
            )
        found[system] = place.systems[system]
    return found


def _unknown(recipes: Mapping[str, Recipe], name: str, cells: Collection[str]) -> str:
    recipe_name, _, part = name.partition("/")
    known = ["all", *recipes, *cells]
    if recipe_name in recipes and part:
        recipe = recipes[recipe_name]
        parts = [*recipe.tables, *recipe.systems]
        own = [key for key in cells if key.startswith(f"{recipe_name}/")]
        near = near_matches(name, [*own, *(f"{recipe_name}/{key}" for key in parts)])
        tables = dict.fromkeys([*(key.partition("/")[2] for key in own), *recipe.tables])
        return f"{name} is not known; expected one of {', '.join(tables)} or a run id{near}"
    return (
        f"plan {name!r} is not known; expected all, {', '.join(recipes)}, PAPER/TABLE or RECIPE/RUN; "
        f"`sentbench list tables` prints the tables{near_matches(name, known)}"
    )
