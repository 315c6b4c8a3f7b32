"""Recipes to params.yaml: from declared systems to the resolved runs. The only writer of that file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from harness import paths
from harness.errors import InputError, near_matches
from harness.files import write_text
from harness.paths import ARTEFACTS, PARAMS, RECIPES, TEACHERS
from harness.plan.entries import Params, Run, first_problem, read_params
from harness.plan.inputs import BACKBONES, CORPORA, corpus_folder, with_needs
from harness.plan.ladder import PREFIX
from harness.plan.names import CellRuns, declared_systems, select

RECIPE_KEYS = {"name", "blocks", "runs", "tables", "tiers"}
EVERY_TIER = ["embedded", "system", "mirror", "hub"]
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
        if path.name in (BACKBONES, CORPORA):
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


def resolve(
    recipes: Mapping[str, Recipe],
    names: Sequence[str],
    *,
    seeds: int | None = None,
    backbones: Sequence[str] | None = None,
    folder: Path = RECIPES,
    cells: Mapping[str, Collection[CellRuns]] | None = None,
) -> Params:
    """Returns the plan with the parents, backbones, corpora, teachers and data that its runs need.

    cells: what fills the cells of every table and figure, for names such as `pcl/table2`.
    """
    chosen, derived = select(recipes, names, cells), _read_yaml(folder / CORPORA)
    every = {
        system: {**entry, "corpus": corpus_folder(entry["corpus"], derived)}
        for system, entry in {**chosen, **declared_systems(recipes)}.items()
    }
    runs: dict[str, Run] = {}
    for system, entry in chosen.items():
        for backbone in entry["backbones"]:
            if backbones is not None and backbone not in backbones:
                continue
            wanted = entry["seeds"] if seeds is None else range(min(seeds, _most_seeds(entry, seeds)))
            for seed in wanted:
                _add_run(runs, every, system, backbone, seed)
    if not runs:
        raise InputError(
            f"plan {', '.join(names)} has no runs, expected at least one: name a table that runs fill, "
            "or mend --backbone or --seeds"
        )
    return with_needs(runs, list(names), _tiers(recipes, names), _read_yaml(folder / BACKBONES), derived)


def _tiers(recipes: Mapping[str, Recipe], names: Sequence[str]) -> list[str]:
    """Returns the tiers that any of the named recipes reads from; all of them for a name of no recipe."""
    allowed = {tier for name in names for tier in _tiers_of(recipes, name)}
    return [tier for tier in EVERY_TIER if tier in allowed]


def _tiers_of(recipes: Mapping[str, Recipe], name: str) -> list[str]:
    place, _, part = name.partition("/")
    if place == PREFIX:
        return next((recipe.tiers for recipe in recipes.values() if part in recipe.systems), EVERY_TIER)
    return recipes[place].tiers if place in recipes else EVERY_TIER


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
    tiers = raw.get("tiers", EVERY_TIER)
    return Recipe(raw["name"], tiers, systems, raw.get("tables", {}))


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
        name: value
        for name, value in every[system].items()
        if name not in ("backbones", "seeds", "parent", "start")
    }
    parent = every[system].get("parent")
    entry["parent"] = (
        _parent(runs, every, parent, entry["corpus"], backbone, seed) if parent else entry["corpus"]
    )
    start = every[system].get("start", {"backbone": backbone})
    entry["backbone"] = _parent(runs, every, start, entry["corpus"], backbone, seed)
    try:
        runs[key] = Run.model_validate({**entry, "id": system, "seed": seed})
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
        return f"{TEACHERS}/{parent['teacher']}__{Path(corpus).name}"
    if "run" in parent:
        if parent["run"] not in every:
            raise InputError(
                f"parent run {parent['run']!r} is not known{near_matches(parent['run'], list(every))}"
            )
        wanted = parent.get("backbone", backbone), parent.get("seed", seed)
        return f"{ARTEFACTS}/{_add_run(runs, every, parent['run'], *wanted)}"
    if "backbone" in parent:
        return f"{paths.BACKBONES}/{parent['backbone']}"
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
