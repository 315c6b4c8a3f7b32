"""Recipes to params.yaml: from declared systems to the resolved runs. The only writer of that file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from harness.errors import InputError, near_matches
from harness.files import write_text
from harness.needs import BACKBONES, with_needs
from harness.recipes import PARAMS, Params, Run, first_problem, read_params

RECIPES = Path("recipes")
RECIPE_KEYS = {"name", "blocks", "runs", "tables", "tiers"}
RUN_DEFAULTS: dict[str, Any] = {"corpus_share": 1.0, "text": "senteval", "weights": "both"}


@dataclass(frozen=True)
class Recipe:
    """One file of recipes/: its systems with all blocks merged, and which of them fill which table."""

    name: str
    tiers: list[str]
    systems: dict[str, dict[str, Any]]
    tables: dict[str, list[str]]


def load_recipes(folder: Path = RECIPES) -> dict[str, Recipe]:
    """Returns all recipes by name.

    Errors: InputError for a file that is not YAML, an unknown key, an unknown block, an id used twice.
    """
    recipes = {}
    owner: dict[str, str] = {}
    for path in sorted(folder.glob("*.yaml")):
        if path.name == BACKBONES:
            continue
        recipe = _read_recipe(path)
        for system in recipe.systems:
            if system in owner:
                raise InputError(f"{path}: run id {system!r} is also in {owner[system]}; expected unique ids")
            owner[system] = path.name
        recipes[recipe.name] = recipe
    return recipes


def merge(*settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings merged deeply; a later value replaces an earlier one."""
    merged: dict[str, Any] = {}
    for part in settings:
        for key, value in part.items():
            both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
            merged[key] = merge(merged[key], value) if both else value
    return merged


def select(recipes: Mapping[str, Recipe], names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Returns the systems that plan names ask for: a recipe, `recipe/table`, `recipe/id`, or `all`.

    Errors: InputError for a name that is none of these, with near matches.
    """
    chosen: dict[str, dict[str, Any]] = {}
    for name in names:
        recipe_name, _, part = name.partition("/")
        if name == "all":
            found = {
                k: v
                for recipe in recipes.values()
                if "hub" in recipe.tiers  # the others are small-scale
                for k, v in recipe.systems.items()
            }
        elif recipe_name not in recipes:
            raise InputError(
                f"plan {name!r} is not known; expected all, {', '.join(recipes)}, or RECIPE/TABLE"
                f"{near_matches(name, list(recipes))}"
            )
        elif not part:
            found = recipes[recipe_name].systems
        else:
            found = _part_of(recipes, recipes[recipe_name], part)
        chosen.update(found)
    return chosen


def resolve(
    recipes: Mapping[str, Recipe],
    names: Sequence[str],
    *,
    seeds: int | None = None,
    backbones: Sequence[str] | None = None,
    folder: Path = RECIPES,
) -> Params:
    """Returns the resolved plan with the parents, backbones, teachers and data that its runs need."""
    every = {system: entry for recipe in recipes.values() for system, entry in recipe.systems.items()}
    runs: dict[str, Run] = {}
    for system, entry in select(recipes, names).items():
        for backbone in entry["backbones"]:
            if backbones is not None and backbone not in backbones:
                continue
            wanted = entry["seeds"] if seeds is None else range(min(seeds, _most_seeds(entry, seeds)))
            for seed in wanted:
                _add_run(runs, every, system, backbone, seed)
    if not runs:
        raise InputError(
            f"plan {', '.join(names)} has no runs; expected at least one; mend --backbone or --seeds"
        )
    tiers = next((recipes[name].tiers for name in names if name in recipes), ["embedded", "mirror", "hub"])
    return with_needs(runs, list(names), tiers, _read_yaml(folder / BACKBONES))


def write_params(params: Params, path: Path = PARAMS) -> bool:
    """Writes the plan; returns whether the file changed."""
    head = (
        "# The resolved plan, written by `sentbench plan "
        + " ".join(params.plan)
        + "`; recipes/ declare it.\n"
    )
    text = head + yaml.safe_dump(params.model_dump(), sort_keys=False, width=110, allow_unicode=True)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    write_text(path, text)
    return True


def check_configs(params: Params) -> None:
    """Validates every run's method, its Config and its TrainConfig; InputError names the run."""
    seen: set[str] = set()
    for run in params.runs.values():
        if run.recipe_hash() not in seen:
            seen.add(run.recipe_hash())
            run.read_settings()


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, FileNotFoundError) as error:
        raise InputError(f"{path}: cannot be read ({' '.join(str(error).split())}); mend the file") from None
    if not isinstance(raw, dict):
        raise InputError(f"{path}: expected a mapping; mend the file")
    return raw


def _read_recipe(path: Path) -> Recipe:
    raw = _read_yaml(path)
    unknown = set(raw) - RECIPE_KEYS
    if unknown:
        raise InputError(
            f"{path}: unknown keys {sorted(unknown)}, expected {sorted(RECIPE_KEYS)}; mend the spelling"
        )
    blocks = raw.get("blocks", {})
    systems = {}
    for entry in raw["runs"]:
        for block in entry.get("use", []):
            if block not in blocks:
                raise InputError(
                    f"{path}: run {entry['id']!r} uses block {block!r}; known: {', '.join(blocks)}"
                )
        merged = merge(RUN_DEFAULTS, *(blocks[block] for block in entry.get("use", [])), entry)
        merged.pop("use", None)
        if merged["id"] in systems:
            raise InputError(f"{path}: run id {merged['id']!r} stands twice; expected unique ids")
        systems[merged.pop("id")] = merged
    tiers = raw.get("tiers", ["embedded", "mirror", "hub"])
    return Recipe(raw["name"], tiers, systems, raw.get("tables", {}))


def _part_of(recipes: Mapping[str, Recipe], recipe: Recipe, part: str) -> dict[str, dict[str, Any]]:
    if part in recipe.systems:
        return {part: recipe.systems[part]}
    if part not in recipe.tables:
        known = [*recipe.tables, *recipe.systems]
        raise InputError(
            f"{recipe.name}/{part} is not known; expected one of {', '.join(recipe.tables)} or a run id"
            f"{near_matches(part, known)}"
        )
    found = {}
    for name in recipe.tables[part]:
        owner, _, system = name.rpartition("/")
        place = recipes.get(owner or recipe.name)
        if place is None or system not in place.systems:
            raise InputError(
                f"{recipe.name}/{part} names {name!r}, which no recipe declares; mend the recipe"
            )
        found[system] = place.systems[system]
    return found


def _most_seeds(entry: Mapping[str, Any], seeds: int) -> int:
    """A run without random numbers declares one seed and stays at one."""
    return 1 if len(entry["seeds"]) == 1 else seeds


def run_key(system: str, backbone: str, seed: int) -> str:
    """Returns the key of a run: system, backbone, seed."""
    return f"{system}__{backbone}__s{seed}"


def _add_run(
    runs: dict[str, Run], every: Mapping[str, dict[str, Any]], system: str, backbone: str, seed: int
) -> str:
    """Adds a run and, before it, the run that is its parent; returns its key."""
    key = run_key(system, backbone, seed)
    if key in runs:
        return key
    entry = {
        name: value for name, value in every[system].items() if name not in ("backbones", "seeds", "parent")
    }
    entry["corpus"] = f"data/{entry['corpus']}"
    parent = every[system].get("parent")
    entry["parent"] = (
        _parent(runs, every, parent, entry["corpus"], backbone, seed) if parent else entry["corpus"]
    )
    try:
        runs[key] = Run.model_validate(
            {**entry, "id": system, "backbone": f"backbones/{backbone}", "seed": seed}
        )
    except ValidationError as error:
        raise InputError(f"run {key}: {first_problem(error)}") from None
    return key


def _parent(
    runs: dict[str, Run],
    every: Mapping[str, dict[str, Any]],
    parent: Mapping[str, Any],
    corpus: str,
    backbone: str,
    seed: int,
) -> str:
    if "teacher" in parent:
        return f"teachers/{parent['teacher']}__{Path(corpus).name}"
    if "run" in parent:
        if parent["run"] not in every:
            raise InputError(
                f"parent run {parent['run']!r} is not known{near_matches(parent['run'], list(every))}"
            )
        wanted = parent.get("backbone", backbone), parent.get("seed", seed)
        return "artefacts/" + _add_run(runs, every, parent["run"], *wanted)
    if "backbone" in parent:
        return f"backbones/{parent['backbone']}"
    raise InputError(
        f"parent {dict(parent)}: expected one of the keys teacher, run, backbone; mend the recipe"
    )


__all__ = [
    "Recipe",
    "check_configs",
    "load_recipes",
    "read_params",
    "resolve",
    "run_key",
    "select",
    "write_params",
]
