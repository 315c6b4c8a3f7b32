"""What one more seed of a system takes: GPU hours, and the command that plans it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from harness.plan.estimate import Estimate
from harness.plan.names import FULL_SCALE
from harness.plan.recipes import Recipe
from harness.plan.resolve import resolve
from harness.plan.step_times import read_step_times
from harness.report.verification import Price


def seed_prices(recipes: Mapping[str, Recipe]) -> dict[tuple[str, str], Price]:
    """Returns the price of a seed by system and backbone, of every system that a full-scale recipe declares.

    Errors: as `resolve` and `read_step_times`.
    """
    homes = {
        system: name
        for name, recipe in recipes.items()
        if FULL_SCALE in recipe.tiers
        for system in recipe.systems
    }
    if not homes:
        return {}
    params = resolve(recipes, ["all"], seeds=1, backbones=None)
    estimate = Estimate(params, read_step_times())
    backbones = Counter(run.id for run in params.runs.values())
    found = {}
    for run in params.runs.values():
        if run.id in homes:
            cost = estimate.run(run)
            command = f"sentbench plan {homes[run.id]}/{run.id}"
            if backbones[run.id] > 1:
                command += f" --backbone {run.backbone_name}"
            found[run.id, run.backbone_name] = Price(None if cost is None else cost.gpu_hours, command)
    return found
