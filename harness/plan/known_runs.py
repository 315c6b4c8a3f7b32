"""Every run that a recipe declares, whatever the present plan is."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.plan.entries import Params, Run
from harness.plan.recipes import Recipe
from harness.plan.resolve import MOST_SEEDS, resolve, run_key


class KnownRuns:
    """The runs of all recipes by key; a system is resolved when one of its runs is asked for."""

    def __init__(self, recipes: Mapping[str, Recipe]) -> None:
        self._recipes = recipes
        self._of = {system: name for name, recipe in recipes.items() for system in recipe.systems}
        self._plans: dict[tuple[str, int], Params] = {}

    def params(self, key: str) -> Params | None:
        """Returns the plan of a run with all that it needs, None if no recipe declares the run."""
        parts = re.fullmatch(r"([a-z0-9_-]+)__([a-z0-9_-]+)__s(0|[1-9]\d{0,3})", key)
        if parts is None or parts[1] not in self._of:
            return None
        system, seed = self._recipes[self._of[parts[1]]].systems[parts[1]], int(parts[3])
        seeds = system.first_seeds(MOST_SEEDS)
        if parts[2] not in system.backbones or seed not in seeds:
            return None
        wanted = (parts[1], seeds.index(seed) + 1)
        if wanted not in self._plans:
            names = [f"{self._of[parts[1]]}/{parts[1]}"]
            self._plans[wanted] = resolve(self._recipes, names, seeds=wanted[1])
        return self._plans[wanted]

    def run(self, key: str) -> Run | None:
        """Returns the entry of a run, None if no recipe declares it."""
        params = self.params(key)
        return None if params is None else params.runs[key]

    def record(self, key: str) -> dict[str, object] | None:
        """Returns what the result of a run says about it, but for its identity; None if none declares it."""
        run = self.run(key)
        if run is None:
            return None
        return {
            "key": run_key(run.id, run.backbone_name, run.seed),
            **{name: getattr(run, name) for name in ("id", "method", "variant", "seed")},
            "backbone": run.backbone_name,
            "recipe": run.recipe_hash(),
        }
