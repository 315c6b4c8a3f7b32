"""Systems of a plan name: a recipe, its group or system, a table or figure, an ablation, or all."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from harness.errors import InputError, near_matches
from harness.evidence.spec import MARK, TableSpec
from harness.plan.entries import Run
from harness.plan.recipes import Recipe, System, declared_systems

FULL_SCALE = "hub"
"""Recipes without this provider are not part of `all`, because they are no paper's setting."""
PREFIX = "ablation"
LENGTHS = {32: 64, 64: 32}
INTERVALS = {125: 250, 250: 125}


def recipes_of(systems: Iterable[str], recipes: Mapping[str, Recipe]) -> dict[str, str]:
    """Returns the recipe that declares each system; an ablation step has the recipe of its system."""
    owners = {system: name for name, recipe in recipes.items() for system in recipe.systems}
    declaring = {system: owners.get(system.partition(MARK)[0]) for system in systems}
    return {system: name for system, name in declaring.items() if name is not None}


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

    A name is a recipe, `recipe/group`, `recipe/id`, `paper/table2`, `paper/fig3`, `ablation/id`, or `all`. A
    table includes only the backbones that it shows. Errors: InputError for an unknown name, with near
    matches, and for a table without runs.
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
            .model_copy(update={"seeds": systems[selection.system].first_seeds(selection.seeds)})
            for selection in recipes[name].takes
        }
        return recipes[name].systems | taken, recipes[name].tasks
    if recipe_name == PREFIX and part in systems:
        return ablation_systems(systems[part]), ()
    if recipe and part in recipe.systems:
        return {part: recipe.systems[part]}, ()
    if recipe and part in recipe.groups:
        return {system: systems[system] for system in recipe.groups[part]}, ()
    if table in tables:
        return _shown(systems, tables[table]), tables[table].tasks() if part else ()
    known = [f"{PREFIX}/{system}" for system in systems] if recipe_name == PREFIX else ["all", *tables]
    known += [
        f"{key}/{member}" for key, entry in recipes.items() for member in (*entry.groups, *entry.systems)
    ]
    raise InputError(
        f"plan {name!r} is not known; expected all, {', '.join(recipes)}, PAPER/TABLE, RECIPE/RUN or "
        f"{PREFIX}/RUN; `sentbench list tables` prints the tables{near_matches(name, [*recipes, *known])}"
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


class AblationChange(NamedTuple):
    """One changed setting: `where` is its key in the recipe's entry, with the old and the new value."""

    step: str
    where: str
    declared: Any
    changed: Any

    @property
    def says(self) -> str:
        """Description of the change."""
        return f"{self.where}: {_word(self.declared)} → {_word(self.changed)}"


def changes_of(entry: System | Run) -> list[AblationChange]:
    """Returns the applicable ablation steps of a declared system or of a run. Pooling has a step for each
    other average over layers, none for encoders without layers. Systems without training have no steps of
    training settings.
    """
    train, config = entry.train, entry.config
    changes = []
    if entry.pooling is not None:
        for step, pooling in (("static-layer", "static-last-avg"), ("first-layer", "first-last-avg")):
            if entry.pooling != pooling:
                changes.append(AblationChange(step, "pooling", entry.pooling, pooling))
    if train.get("steps") != 0:
        decay, norm, every = train["weight_decay"], train["max_grad_norm"], train["eval_every"]
        precision = train["precision"]
        changes += [
            AblationChange("weight-decay", "train.weight_decay", decay, 0.0 if decay else 0.01),
            AblationChange("clipping", "train.max_grad_norm", norm, 1.0 if norm is None else None),
            AblationChange(
                "precision", "train.precision", precision, "bf16" if precision == "fp32" else "fp32"
            ),
            AblationChange("eval-interval", "train.eval_every", every, INTERVALS.get(every, 2 * every)),
            AblationChange("drop-last", "train.drop_last", train["drop_last"], not train["drop_last"]),
        ]
        if "max_length" in config:
            length = config["max_length"]
            changes.append(AblationChange("max-length", "config.max_length", length, LENGTHS.get(length, 32)))
    changes.append(
        AblationChange("text", "text", entry.text, "raw" if entry.text == "senteval" else "senteval")
    )
    return changes


def ablation_systems(system: System) -> dict[str, System]:
    """Returns the declared system and one system for each step, by id; a step's variant names its step."""
    systems = {system.id: system}
    for change in changes_of(system):
        changed: dict[str, Any] = {"id": f"{system.id}{MARK}{change.step}"}
        changed["variant"] = f"{system.variant}{MARK}{change.step}"
        part, _, last = change.where.rpartition(".")
        changed |= {part: {**getattr(system, part), last: change.changed}} if part else {last: change.changed}
        if changed.get("train", system.train).get("precision", "fp32") != "fp32":
            changed["arithmetic"] = "native"  # portable arithmetic is fp32
        systems[changed["id"]] = system.model_copy(update=changed)
    return systems


def _word(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
