"""The ablation: runs that differ from a declared one in one choice of protocol each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.errors import InputError, near_matches
from harness.plan.entries import Run
from harness.plan.recipes import System

PREFIX = "ablation"
MARK = "-ablation-"
"""Joins a declared system and the name of a step in the step's id."""
LENGTHS = {32: 64, 64: 32}
INTERVALS = {125: 250, 250: 125}


class Change(NamedTuple):
    """One choice turned over: `where` in the recipe's entry it stands, from what to what."""

    step: str
    where: str
    declared: Any
    changed: Any

    @property
    def says(self) -> str:
        """The change in words."""
        return f"{self.where}: {_shown(self.declared)} → {_shown(self.changed)}"


def changes_of(entry: System | Run) -> list[Change]:
    """Returns the steps of a declared system or a run of one, those that cannot apply to it left out.

    Pooling has a step for each average over layers that is not the declared one, none for encoders without
    layers. Choices of training have none where nothing is trained.
    """
    train, config = entry.train, entry.config
    changes = []
    if entry.pooling is not None:
        for step, pooling in (("static-layer", "static-last-avg"), ("first-layer", "first-last-avg")):
            if entry.pooling != pooling:
                changes.append(Change(step, "pooling", entry.pooling, pooling))
    if train.get("steps") != 0:
        decay, norm, every = train["weight_decay"], train["max_grad_norm"], train["eval_every"]
        changes += [
            Change("weight-decay", "train.weight_decay", decay, 0.0 if decay else 0.01),
            Change("clipping", "train.max_grad_norm", norm, 1.0 if norm is None else None),
            Change(
                "precision", "train.precision", train["precision"], _other(train["precision"], "fp32", "bf16")
            ),
            Change("eval-interval", "train.eval_every", every, INTERVALS.get(every, 2 * every)),
            Change("drop-last", "train.drop_last", train["drop_last"], not train["drop_last"]),
        ]
        if "max_length" in config:
            length = config["max_length"]
            changes.append(Change("max-length", "config.max_length", length, LENGTHS.get(length, 32)))
    changes.append(Change("text", "text", entry.text, _other(entry.text, "senteval", "raw")))
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


def find_ablation(part: str, systems: Mapping[str, System]) -> dict[str, System]:
    """Returns the systems of plan name `ablation/PART`; `systems` are all that recipes declare.

    Errors: InputError with near matches if no recipe declares PART.
    """
    if part not in systems:
        raise InputError(
            f"{PREFIX}/{part} is not known: expected the id of a run that a recipe declares"
            f"{near_matches(part, list(systems))}"
        )
    return ablation_systems(systems[part])


def _other(value: Any, first: Any, second: Any) -> Any:
    return second if value == first else first


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
