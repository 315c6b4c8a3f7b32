"""What one more seed of a system takes: GPU hours, and the command that plans it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.facts.price import Price
from harness.paths import ARTEFACTS, CORPORA, TEACHERS
from harness.plan.budget import Work
from harness.plan.entries import Params
from harness.plan.estimate import Estimate
from harness.plan.names import FULL_SCALE
from harness.plan.recipes import Recipe
from harness.plan.resolve import resolve
from harness.plan.step_times import Cost, Device, read_step_times

SEED = re.compile(r"(?<=__s)\d+")
"""The seed in the key of a run."""


def seed_prices(
    recipes: Mapping[str, Recipe], systems: Collection[str] | None = None
) -> dict[tuple[str, str], Price]:
    """Returns the price of a seed by system and backbone, of systems that a full-scale recipe declares.

    systems: only these, and those that they need; by default all. A price is what the command's dry run
    prints: the parents and teachers that a seed needs count with it, those that all seeds share once.
    Errors: as `resolve` and `read_step_times`.
    """
    found = {}
    for system, (needs, one, shared, command) in _planned(recipes, systems, "cuda").items():
        corpora = ", ".join(sorted(needs.corpora(one)))
        found[system] = Price(needs.hours(one - shared), command, needs.hours(shared), corpora)
    return found


def works_of(
    recipes: Mapping[str, Recipe],
    done: Mapping[str, int],
    device: Device,
    systems: Collection[str] | None = None,
) -> dict[str, Work]:
    """Returns what the seeds of each full-scale system take, by the command that plans them.

    done: seeds on record by system@backbone. systems: only these; by default all. Systems whose hours are not
    known are left out. Hours of a CPU are those of one core. Errors: as `seed_prices`.
    """
    found = {}
    for (system, backbone), (needs, one, shared, command) in _planned(recipes, systems, device).items():
        if needs.hours(one) is not None:
            each = {SEED.sub("", folder): needs.hours([folder]) or 0.0 for folder in one - shared}
            once = {folder: needs.hours([folder]) or 0.0 for folder in shared}
            found[command] = Work(done.get(f"{system}@{backbone}", 0), each, once)
    return found


def _planned(
    recipes: Mapping[str, Recipe], systems: Collection[str] | None, device: Device
) -> dict[tuple[str, str], tuple[Needs, set[str], set[str], str]]:
    """Returns by system and backbone what its first seed needs, what all share, and the planning command."""
    homes = {
        system: name
        for name, recipe in recipes.items()
        if FULL_SCALE in recipe.providers
        for system in recipe.systems
        if systems is None or system in systems
    }
    if not homes:
        return {}
    names = ["all"] if systems is None else [f"{home}/{system}" for system, home in homes.items()]
    needs = Needs(resolve(recipes, names, seeds=2), device)
    seeds: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    backbones: defaultdict[str, set[str]] = defaultdict(set)
    for key, run in needs.params.runs.items():
        seeds[run.id, run.backbone_name].append(key)
        backbones[run.id].add(run.backbone_name)
    found = {}
    for (system, backbone), keys in seeds.items():
        if system not in homes:
            continue
        one = needs.of(keys[0])
        shared = one & needs.of(keys[1]) if len(keys) > 1 else set()
        command = f"sentbench plan {homes[system]}/{system}"
        if len(backbones[system]) > 1:
            command += f" --backbone {backbone}"
        found[system, backbone] = (needs, one, shared, command)
    return found


@dataclass(frozen=True)
class Needs:
    """What each run of a plan needs to be there before it, by the folders that it reads."""

    params: Params
    device: Device = "cuda"
    _hours: dict[str, float | None] = field(default_factory=dict)

    def of(self, key: str) -> set[str]:
        """Returns the folders of a run, of the runs that it needs, and of the teachers' vectors."""
        found, wanted = set(), [f"{ARTEFACTS}/{key}"]
        while wanted:
            folder = wanted.pop()
            found.add(folder)
            if Path(folder).parent == ARTEFACTS:
                run = self.params.runs[Path(folder).name]
                needed = [run.parent, run.backbone]
                wanted += [path for path in needed if Path(path).parent in (ARTEFACTS, TEACHERS)]
        return found

    def hours(self, folders: Iterable[str]) -> float | None:
        """Returns the hours that folders take on the device, None if those of one are not known."""
        if not self._hours:
            estimate = Estimate(self.params, read_step_times())
            costs: dict[str, Cost | None] = {}
            costs |= {f"{ARTEFACTS}/{key}": estimate.run(run) for key, run in self.params.runs.items()}
            costs |= {f"{TEACHERS}/{name}": estimate.teacher(name) for name in self.params.teachers}
            part = "gpu_hours" if self.device == "cuda" else "cpu_hours"
            self._hours.update(
                {key: None if cost is None else getattr(cost, part) for key, cost in costs.items()}
            )
        hours = [self._hours[folder] for folder in folders]
        known = [hour for hour in hours if hour is not None]
        return sum(known) if len(known) == len(hours) else None

    def corpora(self, folders: Iterable[str]) -> set[str]:
        """Returns the derived corpora that the runs among folders read, whose making no hours count."""
        runs = [self.params.runs[Path(folder).name] for folder in folders if Path(folder).parent == ARTEFACTS]
        return {Path(run.corpus).name for run in runs if Path(run.corpus).parent == CORPORA}
