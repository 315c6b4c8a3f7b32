"""What one more seed of a system takes: GPU hours, and the command that plans it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.facts.price import Price
from harness.paths import ARTEFACTS, CORPORA, TEACHERS
from harness.plan.entries import Params
from harness.plan.estimate import Estimate
from harness.plan.names import FULL_SCALE
from harness.plan.recipes import Recipe
from harness.plan.resolve import resolve
from harness.plan.step_times import Cost, read_step_times


def seed_prices(
    recipes: Mapping[str, Recipe], systems: Collection[str] | None = None
) -> dict[tuple[str, str], Price]:
    """Returns the price of a seed by system and backbone, of systems that a full-scale recipe declares.

    systems: only these, and those that they need; by default all. A price is what the command's dry run
    prints: the parents and teachers that a seed needs count with it, those that all seeds share once.
    Errors: as `resolve` and `read_step_times`.
    """
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
    needs = Needs(resolve(recipes, names, seeds=2))
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
        corpora = ", ".join(sorted(needs.corpora(one)))
        found[system, backbone] = Price(needs.hours(one - shared), command, needs.hours(shared), corpora)
    return found


@dataclass(frozen=True)
class Needs:
    """What each run of a plan needs to be there before it, by the folders that it reads."""

    params: Params
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
        """Returns the GPU hours that folders take, None if those of one are not known."""
        if not self._hours:
            estimate = Estimate(self.params, read_step_times())
            costs: dict[str, Cost | None] = {}
            costs |= {f"{ARTEFACTS}/{key}": estimate.run(run) for key, run in self.params.runs.items()}
            costs |= {f"{TEACHERS}/{name}": estimate.teacher(name) for name in self.params.teachers}
            self._hours.update({key: None if cost is None else cost.gpu_hours for key, cost in costs.items()})
        hours = [self._hours[folder] for folder in folders]
        known = [hour for hour in hours if hour is not None]
        return sum(known) if len(known) == len(hours) else None

    def corpora(self, folders: Iterable[str]) -> set[str]:
        """Returns the derived corpora that the runs among folders read, whose making no hours count."""
        runs = [self.params.runs[Path(folder).name] for folder in folders if Path(folder).parent == ARTEFACTS]
        return {Path(run.corpus).name for run in runs if Path(run.corpus).parent == CORPORA}
