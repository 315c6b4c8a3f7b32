"""A method of one's own in the setting of a declared system, as a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InputError, near_matches
from harness.plan.entries import Params
from harness.plan.recipes import Recipe, System, declared_systems
from harness.plan.resolve import resolve

PLAN = "try"
"""The name of the plan of a trial; no recipe has it."""
OWN = "own"
"""The variant of a method of one's own."""


def in_setting_of(
    template: System,
    name: str,
    *,
    method: str,
    settings: Mapping[str, Any],
    seeds: Sequence[int],
    backbone: str,
) -> System:
    """Returns the system `name`: a method in the setting of a declared system, on one backbone.

    settings: of the method or of the training, by name; of a name that both have the method's is meant.
    Errors: InputError for a setting that neither has, and for settings of the method that have no value; all
    at once.
    """
    from methods.core.train_config import TrainConfig
    from methods.registry import load_method

    fields = load_method(method).Config.model_fields
    known = [*fields, *TrainConfig.model_fields]
    for key in settings:
        if key not in known:
            raise InputError(f"--set {key}: expected one of {', '.join(known)}{near_matches(key, known)}")
    config = {"max_length": template.config["max_length"]}
    config |= {key: value for key, value in settings.items() if key in fields}
    missing = [key for key, field in fields.items() if field.is_required() and key not in config]
    if missing:
        given = " ".join(f"--set {key}=VALUE" for key in missing)
        raise InputError(f"{method}: no value of {', '.join(missing)}; give defaults, or {given}")
    train = {key: value for key, value in settings.items() if key not in fields}
    changes = {
        "id": name,
        "method": method,
        "variant": OWN,
        "preset": None,
        "backbones": [backbone],
        "seeds": list(seeds),
        "config": config,
        "train": {**template.train, **train},
    }
    return System.model_validate({**template.model_dump(), **changes})


def planned(recipes: Mapping[str, Recipe], systems: Sequence[System], providers: Sequence[Any]) -> Params:
    """Returns the plan of these systems with all that their runs need."""
    own = {system.id: system for system in systems}
    taken = own.keys() & declared_systems(recipes).keys()
    for name in sorted(name for name in taken if own[name].variant == OWN):
        raise InputError(f"{name!r} is a declared system; rename the file")
    recipe = Recipe(name=PLAN, providers=list(providers), systems=own)
    return resolve({**recipes, PLAN: recipe}, [PLAN])
