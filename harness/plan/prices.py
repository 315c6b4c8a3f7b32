"""Cost of a system's seeds: hours, and the command that plans them."""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

from harness.evidence.settling import Price
from harness.paths import ARTEFACTS, CORPORA, TEACHERS
from harness.plan import estimate
from harness.plan.entries import Params
from harness.plan.estimate import Estimate
from harness.plan.names import FULL_SCALE
from harness.plan.recipes import Recipe
from harness.plan.resolve import resolve
from harness.plan.step_times import Device, read_step_times

SEED = re.compile(r"(?<=__s)\d+")
"""The seed in the key of a run."""


def seed_prices(
    recipes: Mapping[str, Recipe], device: Device, systems: Collection[str] | None = None
) -> dict[tuple[str, str], Price]:
    """Returns the cost of the seeds of each system of full-scale recipes, by system and backbone. It equals
    the output of the command's dry run. systems: only these; default: all. On a CPU runs take all its cores.
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
    params = resolve(recipes, names, seeds=2)
    times = read_step_times()
    hours = _hours(Estimate(params, times), device)
    seeds: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for key, run in params.runs.items():
        seeds[run.id][run.backbone_name].append(key)
    prices = {}
    for system in homes:
        for backbone, keys in seeds[system].items():
            needed = _needed(params, keys[0])
            shared = needed & _needed(params, keys[1]) if len(keys) > 1 else set()
            runs = [params.runs[Path(folder).name] for folder in needed if Path(folder).parent == ARTEFACTS]
            corpora = [Path(run.corpus) for run in runs]
            command = f"sentbench plan {homes[system]}/{system}"
            if len(seeds[system]) > 1:
                command += f" --backbone {backbone}"
            prices[system, backbone] = Price(
                command,
                {SEED.sub("", folder): hours[folder] for folder in needed - shared},
                {folder: hours[folder] for folder in shared},
                ", ".join(sorted({path.name for path in corpora if path.parent == CORPORA})),
                times.assumed_gpu if device == "cuda" else "",
            )
    return prices


def _needed(params: Params, key: str) -> set[str]:
    """Returns the folders of a run, of the runs that it needs, and of the teachers' vectors."""
    folders, wanted = set(), [f"{ARTEFACTS}/{key}"]
    while wanted:
        folder = wanted.pop()
        folders.add(folder)
        if Path(folder).parent == ARTEFACTS:
            run = params.runs[Path(folder).name]
            needed = [run.parent, run.backbone]
            wanted += [path for path in needed if Path(path).parent in (ARTEFACTS, TEACHERS)]
    return folders


def _hours(costs_of: Estimate, device: Device) -> dict[str, float]:
    params, cores = costs_of.params, estimate.cores_here()
    costs = {f"{ARTEFACTS}/{key}": costs_of.run(run) for key, run in params.runs.items()}
    costs |= {f"{TEACHERS}/{name}": costs_of.teacher(name) for name in params.teachers}
    return {
        folder: math.nan if cost is None else cost.gpu_hours if device == "cuda" else cost.cpu_hours / cores
        for folder, cost in costs.items()
    }
