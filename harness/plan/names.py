"""Systems of a plan name: a recipe, its group or system, a table or figure, or all."""

from collections.abc import Collection, Iterable, Mapping

from harness.errors import InputError, near_matches
from harness.evidence.spec import TableSpec
from harness.plan.recipes import Recipe, System, declared_systems

FULL_SCALE = "hub"
"""Recipes without this provider are not part of `all`, because they are no paper's setting."""


def recipes_of(systems: Iterable[str], recipes: Mapping[str, Recipe]) -> dict[str, str]:
    """Returns the recipe that declares each system."""
    owners = {system: name for name, recipe in recipes.items() for system in recipe.systems}
    return {system: owners[system] for system in systems if system in owners}


def is_full_scale(recipe: Recipe) -> bool:
    """Returns whether a recipe shows a paper's setting."""
    return FULL_SCALE in recipe.providers


def limited_tasks(
    recipes: Mapping[str, Recipe], names: Iterable[str], tables: Mapping[str, TableSpec]
) -> dict[str, Collection[str]]:
    """Returns the tasks of plan names that limit tasks: tables, figures, recipes with `tasks`."""
    limits = {name: _named(recipes, name, tables)[1] for name in names}
    return {name: tasks for name, tasks in limits.items() if tasks}


def select(
    recipes: Mapping[str, Recipe], names: Iterable[str], tables: Mapping[str, TableSpec]
) -> dict[str, System]:
    """Returns the union of the systems of plan names, each with the wanted backbones.

    A name is a recipe, `recipe/group`, `recipe/id`, `paper/table2`, `paper/fig3`, or `all`. A table includes
    only the backbones that it shows. Errors: InputError for an unknown name, with near matches, and for a
    table without runs.
    """
    chosen: dict[str, System] = {}
    for name in names:
        for system, entry in _named(recipes, name, tables)[0].items():
            known = chosen[system].backbones if system in chosen else []
            chosen[system] = entry.on(list(dict.fromkeys([*known, *entry.backbones])))
    return chosen


def _named(
    recipes: Mapping[str, Recipe], name: str, tables: Mapping[str, TableSpec]
) -> tuple[dict[str, System], Collection[str]]:
    """Returns the systems of one name, and the tasks to which it limits them, if any."""
    systems = declared_systems(recipes)
    recipe_name, _, part = name.partition("/")
    recipe, table = recipes.get(recipe_name), name.replace("/figure", "/fig")
    if name == "all":
        full = [recipe for recipe in recipes.values() if is_full_scale(recipe)]
        return {system: entry for recipe in full for system, entry in recipe.systems.items()}, ()
    if name in recipes:
        taken = {
            selection.system: systems[selection.system]
            .on(selection.backbones)
            .model_copy(update={"seeds": systems[selection.system].seeds_wanted(selection.seeds)})
            for selection in recipes[name].takes
        }
        return recipes[name].systems | taken, recipes[name].tasks
    if recipe and part in recipe.systems:
        return {part: recipe.systems[part]}, ()
    if recipe and part in recipe.groups:
        return {system: systems[system] for system in recipe.groups[part]}, ()
    if table in tables:
        return _shown(systems, tables[table]), tables[table].tasks() if part else ()
    known = ["all", *tables]
    known += [
        f"{key}/{member}" for key, entry in recipes.items() for member in (*entry.groups, *entry.systems)
    ]
    raise InputError(
        f"plan {name!r} is not known; expected all, {', '.join(recipes)}, PAPER/TABLE or RECIPE/RUN; "
        f"`sentbench list tables` prints the tables{near_matches(name, [*recipes, *known])}"
    )


def _shown(systems: Mapping[str, System], table: TableSpec) -> dict[str, System]:
    """Returns the systems of a table, in the order of the recipes, each with its backbones in the table."""
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
        raise InputError(f"plan {table.key} has no runs: its cells show only reported numbers")
    return {
        key: system.on([backbone for backbone in system.backbones if backbone in wanted[key]])
        for key, system in systems.items()
        if key in wanted
    }
