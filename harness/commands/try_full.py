"""`sentbench try --scale full`, its part of the command: a recipe for BERT-base, with its cost and power."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from harness.commands.plan import describe
from harness.disk.files import write_text
from harness.paths import RECIPES, SCORES
from harness.plan.checks import check_runs
from harness.plan.power import propose_seeds
from harness.plan.recipes import Recipe, declared_systems
from harness.plan.step_times import BASELINE
from harness.plan.trial import in_setting_of, planned

FULL, SUFFIX = "simcse", "full"
"""The system whose setting it has, the released script's for BERT-base; and what its id ends with."""
POWER, DELTA = 0.8, 0.5


def write_full(
    file: Path,
    name: str,
    recipes: Mapping[str, Recipe],
    settings: Mapping[str, Any],
    *,
    seeds: Sequence[int],
    out: Path,
) -> str:
    """Writes OUT/recipes/NAME.yaml and OUT/methods/FILE; returns cost, power and what to run.

    A step counts as long as one of SimCSE: the method has not been measured. Errors: as of a plan.
    """
    template = declared_systems(recipes)[FULL]
    (backbone,) = template.backbones
    system = in_setting_of(
        template, f"{name}-{SUFFIX}", method=name, settings=settings, seeds=seeds, backbone=backbone
    )
    params = planned(recipes, [system, template.model_copy(update={"seeds": list(seeds)})], ["mirror", "hub"])
    check_runs(params)
    own = {key: run for key, run in params.runs.items() if run.id == system.id}
    counted = {key: run.model_copy(update={"method": BASELINE}) for key, run in own.items()}
    text = describe(params.model_copy(update={"runs": {**params.runs, **counted}}))
    power = propose_seeds(params, SCORES, power=POWER, delta=DELTA)
    recipe = out / RECIPES / f"{file.stem}.yaml"
    entry = system.model_dump(exclude_defaults=True, exclude={"preset"})
    (out / "methods").mkdir(parents=True, exist_ok=True)
    recipe.parent.mkdir(exist_ok=True)
    shutil.copyfile(file, out / "methods" / file.name)
    write_text(recipe, yaml.safe_dump({"name": system.id, "runs": [entry]}, sort_keys=False, width=110))
    run = f"in a checkout: sentbench --include {out} plan {system.id} && sentbench --include {out} launch"
    counting = f"a step of {name} counts as long as one of {BASELINE}"
    return "\n".join([text, counting, "", power, "", f"recipe: {recipe}", run])
