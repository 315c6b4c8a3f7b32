"""What a plan name asks for: a recipe, a group or system of it, a table or figure, or everything."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from harness.errors import InputError, near_matches
from harness.facts.spec import TableSpec
from harness.plan.ablations import MARK, PREFIX, find_ablation
from harness.plan.recipes import Recipe, System, declared_systems

FULL_SCALE = "hub"
"""Recipes that do not read from this provider are no part of `all`: they show no paper's setting."""


def recipes_of(systems: Iterable[str], recipes: Mapping[str, Recipe]) -> dict[str, str]:
    """Returns the recipe that declares each system; the step of an ablation has that of its system."""
    owners = {system: name for name, recipe in recipes.items() for system in recipe.systems}
    declaring = {system: owners.get(system.partition(MARK)[0]) for system in systems}
    return {system: name for system, name in declaring.items() if name is not None}


def is_full_scale(recipe: Recipe) -> bool:
    """Returns whether a recipe shows a paper's setting."""
    return FULL_SCALE in recipe.providers


def limited_tasks(
    recipes: Mapping[str, Recipe], names: Iterable[str], tables: Mapping[str, TableSpec]
) -> dict[str, Collection[str]]:
    """Returns the tasks of those plan names that ask for some only: tables, figures, recipes with `tasks`."""
    found: dict[str, Collection[str]] = {}
    for name in names:
        recipe_name, _, part = name.partition("/")
        recipe = recipes.get(recipe_name)
        own = {*recipe.systems, *recipe.groups} if recipe else set()
        key = _table_key(name)
        if part and part not in own and key in tables:
            found[name] = tables[key].tasks()
        elif recipe and not part and recipe.tasks:
            found[name] = recipe.tasks
    return found


def _table_key(name: str) -> str:
    return name.replace("/figure", "/fig")


def select(
    recipes: Mapping[str, Recipe], names: Iterable[str], tables: Mapping[str, TableSpec]
) -> dict[str, System]:
    """Returns the union of the systems that plan names ask for, each with the backbones wanted.

    A name is a recipe, `recipe/group`, `recipe/id`, `paper/table2`, `paper/fig3`, `ablation/id`, or `all`. A
    table takes of each system only the backbones that it shows.
    Errors: InputError for a name that is none of these, with near matches, and for a table without runs.
    """
    chosen: dict[str, System] = {}
    for name in names:
        for system, entry in _named(recipes, name, tables).items():
            known = chosen[system].backbones if system in chosen else []
            chosen[system] = entry.on(list(dict.fromkeys([*known, *entry.backbones])))
    return chosen


def _named(recipes: Mapping[str, Recipe], name: str, tables: Mapping[str, TableSpec]) -> dict[str, System]:
    recipe_name, _, part = name.partition("/")
    if name == "all":
        full = [recipe for recipe in recipes.values() if is_full_scale(recipe)]
        return {system: entry for recipe in full for system, entry in recipe.systems.items()}
    if recipe_name == PREFIX and part:
        return find_ablation(part, declared_systems(recipes))
    if name in recipes:
        return recipes[name].systems | _taken(recipes, recipes[name])
    recipe = recipes.get(recipe_name)
    if recipe and part in recipe.systems:
        return {part: recipe.systems[part]}
    if recipe and part in recipe.groups:
        systems = declared_systems(recipes)
        return {system: systems[system] for system in recipe.groups[part]}
    table = _table_key(name)
    if table not in tables:
        raise InputError(_unknown(recipes, name, tables))
    return _shown(recipes, tables[table])


def _taken(recipes: Mapping[str, Recipe], recipe: Recipe) -> dict[str, System]:
    """Returns the systems of other recipes that a recipe's plan has, with their backbones and seeds there."""
    systems = declared_systems(recipes)
    return {
        taken.system: systems[taken.system]
        .on(taken.backbones)
        .model_copy(update={"seeds": systems[taken.system].first_seeds(taken.seeds)})
        for taken in recipe.takes
    }


def _shown(recipes: Mapping[str, Recipe], table: TableSpec) -> dict[str, System]:
    """Returns the systems that a table shows, in the order of the recipes, each with its backbones there."""
    systems = declared_systems(recipes)
    wanted: dict[str, list[str]] = {}
    for run in table.choices():
        if run.system not in systems or run.backbone not in systems[run.system].backbones:
            known = [f"{system}@{backbone}" for system in systems for backbone in systems[system].backbones]
            raise InputError(
                f"table {table.key} shows {run.system}@{run.backbone}, which no recipe declares"
                f"{near_matches(f'{run.system}@{run.backbone}', known)}; correct the table"
            )
        wanted.setdefault(run.system, []).append(run.backbone)
    if not wanted:
        raise InputError(
            f"plan {table.key} has no runs: no cell of it shows a system that is run; name another table"
        )
    return {
        key: system.on([backbone for backbone in system.backbones if backbone in wanted[key]])
        for key, system in systems.items()
        if key in wanted
    }


def _unknown(recipes: Mapping[str, Recipe], name: str, tables: Collection[str]) -> str:
    recipe_name, _, part = name.partition("/")
    if recipe_name in recipes and part:
        recipe = recipes[recipe_name]
        own = [key.partition("/")[2] for key in tables if key.startswith(f"{recipe_name}/")]
        parts = [f"{recipe_name}/{key}" for key in (*own, *recipe.groups, *recipe.systems)]
        return (
            f"{name} is not known; expected one of {', '.join([*own, *recipe.groups])} or a run id"
            f"{near_matches(name, parts)}"
        )
    return (
        f"plan {name!r} is not known; expected all, {', '.join(recipes)}, PAPER/TABLE or RECIPE/RUN; "
        f"`sentbench list tables` prints the tables{near_matches(name, ['all', *recipes, *tables])}"
    )
