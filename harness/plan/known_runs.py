"""Every run that a recipe declares, whatever the present plan is."""

from __future__ import annotations

from collections.abc import Mapping

from harness.plan.entries import Run
from harness.plan.recipes import Recipe
from harness.plan.resolve import MOST_SEEDS, resolve, run_key, seeds_of


def declared_runs(recipes: Mapping[str, Recipe]) -> dict[tuple[str, str], Run]:
    """Returns the entry of the first seed of every declared system on each backbone.

    Errors: as `resolve`.
    """
    found: dict[tuple[str, str], Run] = {}
    for name in recipes:
        for run in resolve(recipes, [name], seeds=1).runs.values():
            found.setdefault((run.id, run.backbone_name), run)
    return found


def recipe_hashes(recipes: Mapping[str, Recipe]) -> dict[str, str]:
    """Returns the hash of the recipe by the key of every run that can be planned."""
    systems = {key: system for recipe in recipes.values() for key, system in recipe.systems.items()}
    return {
        run_key(system, backbone, seed): hashed
        for (system, backbone), run in declared_runs(recipes).items()
        for hashed in [run.recipe_hash()]
        for seed in seeds_of(systems[system], MOST_SEEDS)
    }
