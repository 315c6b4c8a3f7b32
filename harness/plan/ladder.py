"""The gap ladder: runs that differ from a declared one in one choice of protocol each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from harness.errors import InputError, near_matches
from harness.plan.recipes import System

PREFIX = "ladder"
MARK = "-ladder-"
"""Stands between a declared system and the step in the id of a rung."""
LENGTHS = {32: 64, 64: 32}
INTERVALS = {125: 250, 250: 125}


class Settings(Protocol):
    """What a ladder changes: a declared system, or a run of one."""

    @property
    def pooling(self) -> str | None: ...
    @property
    def text(self) -> str: ...
    @property
    def train(self) -> dict[str, Any]: ...
    @property
    def config(self) -> dict[str, Any]: ...


class Rung(NamedTuple):
    """One choice turned over: `where` in the recipe's entry it stands, from what to what."""

    step: str
    where: str
    declared: Any
    changed: Any

    @property
    def says(self) -> str:
        """The change in words."""
        return f"{self.where}: {_shown(self.declared)} → {_shown(self.changed)}"


def rungs_of(entry: Settings) -> list[Rung]:
    """Returns the rungs of a declared system, those that cannot apply to it left out.

    Pooling has a rung for each average over layers that is not the declared one, none for encoders without
    layers. Choices of training have none where nothing is trained.
    """
    train, config = entry.train, entry.config
    rungs = []
    if entry.pooling is not None:
        for step, pooling in (("static-layer", "static-last-avg"), ("first-layer", "first-last-avg")):
            if entry.pooling != pooling:
                rungs.append(Rung(step, "pooling", entry.pooling, pooling))
    if train.get("steps") != 0:
        decay, norm, every = train["weight_decay"], train["max_grad_norm"], train["eval_every"]
        rungs += [
            Rung("weight-decay", "train.weight_decay", decay, 0.0 if decay else 0.01),
            Rung("clipping", "train.max_grad_norm", norm, 1.0 if norm is None else None),
            Rung(
                "precision", "train.precision", train["precision"], _other(train["precision"], "fp32", "bf16")
            ),
            Rung("eval-interval", "train.eval_every", every, INTERVALS.get(every, 2 * every)),
            Rung("drop-last", "train.drop_last", train["drop_last"], not train["drop_last"]),
        ]
        if "max_length" in config:
            length = config["max_length"]
            rungs.append(Rung("max-length", "config.max_length", length, LENGTHS.get(length, 32)))
    rungs.append(Rung("text", "text", entry.text, _other(entry.text, "senteval", "raw")))
    return rungs


def ladder_systems(system: System) -> dict[str, System]:
    """Returns the declared system and one system a rung, by id; a rung's variant names its step."""
    systems = {system.id: system}
    for rung in rungs_of(system):
        changed: dict[str, Any] = {"id": f"{system.id}{MARK}{rung.step}"}
        changed["variant"] = f"{system.variant}{MARK}{rung.step}"
        part, _, last = rung.where.rpartition(".")
        changed |= {part: {**getattr(system, part), last: rung.changed}} if part else {last: rung.changed}
        if changed.get("train", system.train).get("precision", "fp32") != "fp32":
            changed["arithmetic"] = "native"  # portable arithmetic is fp32
        systems[changed["id"]] = system.model_copy(update=changed)
    return systems


def find_ladder(part: str, systems: Mapping[str, System]) -> dict[str, System]:
    """Returns the systems of plan name `ladder/PART`; `systems` are all that recipes declare.

    Errors: InputError with near matches if no recipe declares PART.
    """
    if part not in systems:
        raise InputError(
            f"{PREFIX}/{part} is not known: expected the id of a run that a recipe declares"
            f"{near_matches(part, list(systems))}"
        )
    return ladder_systems(systems[part])


def _other(value: Any, first: Any, second: Any) -> Any:
    return second if value == first else first


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
