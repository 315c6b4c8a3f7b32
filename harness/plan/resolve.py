"""Resolve recipes to params.yaml: from declared systems, or a custom method, to the runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from harness import paths
from harness.data.sources import PROVIDERS
from harness.errors import InputError, near_matches
from harness.evidence.spec import TableSpec
from harness.io.declarations import validated
from harness.paths import ARTEFACTS, FURTHER_RUNS, RECIPES, TEACHERS
from harness.plan.chains import check_chains
from harness.plan.entries import Params, Run
from harness.plan.inputs import corpus_folder, narrowed, with_needs
from harness.plan.names import limited_tasks, select
from harness.plan.recipes import (
    DeclaredBackbone,
    DeclaredCorpus,
    Parent,
    Precision,
    Recipe,
    System,
    declared_systems,
    load_backbones,
    load_corpora,
)
from harness.process import Arithmetic
from methods.registry import METHODS

MOST_SEEDS = 1000
"""Largest number of seeds of one system in a plan."""
PLAN = "try"
"""The plan name of a trial; no recipe may have it."""
OWN = "own"
"""The variant of a custom method."""


def resolve(
    recipes: Mapping[str, Recipe],
    names: Sequence[str],
    *,
    seeds: int | None = None,
    backbones: Sequence[str] | None = None,
    folder: Path = RECIPES,
    tables: Mapping[str, TableSpec] | None = None,
    arithmetic: Arithmetic | None = None,
    precision: Precision | None = None,
) -> Params:
    """Returns the plan with all parents, backbones, corpora, teachers and data of its runs.

    seeds: this many for each system that draws random numbers; backbones: only these. tables: by key, for
    names such as `pcl/table2`; runs of tables are evaluated only on the tables' tasks. arithmetic,
    precision: override the recipes', the precision that of trainings.
    Errors: InputError for an unknown name, a backbone without runs, or an empty plan.
    """
    if seeds is not None and not 1 <= seeds <= MOST_SEEDS:
        raise InputError(f"--seeds {seeds}: expected a number from 1 to {MOST_SEEDS}")
    cuts, derived, tables = load_backbones(folder), load_corpora(folder), tables or {}
    chosen = select(recipes, names, tables)
    declared = list(dict.fromkeys(name for entry in chosen.values() for name in entry.backbones))
    for name in backbones or ():
        if name not in declared:
            raise InputError(
                f"--backbone {name}: plan {', '.join(names)} has no runs on it, expected some of "
                f"{', '.join(declared)}{near_matches(name, declared)}; correct it or leave it out"
            )
    known = {**chosen, **declared_systems(recipes)}
    if arithmetic is not None:
        known = {name: system.model_copy(update={"arithmetic": arithmetic}) for name, system in known.items()}
    if precision is not None:
        known = {name: in_precision(system, precision) for name, system in known.items()}
    _check_origins(known, cuts, derived)

    def runs_of(systems: Mapping[str, System]) -> dict[str, Run]:
        collector = RunCollector(known, derived)
        for system, entry in systems.items():
            for backbone in entry.backbones:
                if backbones is None or backbone in backbones:
                    chosen = entry.seeds_wanted(seeds)
                    first = chosen[: entry.first_seeds]
                    for seed in chosen:
                        collector.add(system, backbone, seed, first=seed in first)
        return collector.runs

    resolved, providers = runs_of(chosen), _providers(recipes, names)
    limited = limited_tasks(recipes, names, tables)
    shown = [task for tasks in limited.values() for task in tasks]
    if shown:
        others = [name for name in names if name not in limited]
        resolved = narrowed(resolved, shown, providers) | runs_of(select(recipes, others, tables))
    return with_needs(resolved, list(names), providers, cuts, derived)


def in_precision(system: System, precision: Precision) -> System:
    """Returns the system with this precision of its training; itself if it is not trained."""
    if system.train["steps"] == 0:
        return system
    return system.model_copy(update={"train": {**system.train, "precision": precision}})


def _check_origins(
    systems: Mapping[str, System],
    backbones: Mapping[str, DeclaredBackbone],
    corpora: Mapping[str, DeclaredCorpus],
) -> None:
    made_from = {
        name: [origin.run for origin in (of.parent, of.start) if origin] for name, of in systems.items()
    }
    for kind, origins in (
        ("run", made_from),
        ("backbone", {name: [of.cut] for name, of in backbones.items()}),
        ("corpus", {name: [of.origin, of.tool] for name, of in corpora.items()}),
    ):
        try:
            check_chains(
                {name: {origin for origin in folders if origin} for name, folders in origins.items()}
            )
        except ValueError as error:
            raise InputError(f"{kind} of recipes/: {error}") from None


@dataclass(frozen=True)
class RunCollector:
    """Collects resolved runs, each after the runs it needs. systems: all systems by id; derived: the corpora
    that recipes/ declares.
    """

    systems: Mapping[str, System]
    derived: Mapping[str, DeclaredCorpus]
    runs: dict[str, Run] = field(default_factory=dict)

    def add(self, system: str, backbone: str, seed: int, *, first: bool) -> str:
        """Adds a run after its parent and its start; returns its key. first: whether it is one of the first
        seeds of its system, or a run of first seeds needs it."""
        key = f"{system}__{backbone}__s{seed}"
        if key in self.runs and (self.runs[key].is_first or not first):
            return key
        entry = self.systems[system]
        corpus = corpus_folder(entry.corpus, self.derived)
        if entry.method not in METHODS:
            raise InputError(
                f"method {entry.method!r} is not known, expected one of {', '.join(METHODS)}"
                f"{near_matches(entry.method, list(METHODS))}; correct the recipe"
            )
        start = entry.start or Parent(backbone=backbone)
        made_from = partial(self._folder, user=key, corpus=corpus, backbone=backbone, seed=seed, first=first)
        needs = {
            "corpus": corpus,
            "parent": made_from(entry.parent) if entry.parent else corpus,
            "backbone": made_from(start),
        }
        settings: dict[str, Any] = entry.model_dump(
            exclude={"backbones", "seeds", "first_seeds", "start", "preset", "no_verdict", *needs}
        )
        if not first:
            settings["outputs"] = f"{FURTHER_RUNS}/{system}__{backbone}"
        self.runs[key] = validated(Run, {**settings, **needs, "seed": seed}, where=f"run {key}")
        return key

    def _folder(
        self, parent: Parent, *, user: str, corpus: str, backbone: str, seed: int, first: bool
    ) -> str:
        """Returns the folder of a parent or start of the run `user`, and adds the run it comes from."""
        if parent.teacher is not None:
            return f"{TEACHERS}/{parent.teacher}__{Path(corpus).name}"
        if parent.run is None:
            return f"{paths.BACKBONES}/{parent.backbone}"
        if parent.run not in self.systems:
            raise InputError(
                f"{user}: parent run {parent.run!r} is not known, expected the id of a declared run"
                f"{near_matches(parent.run, list(self.systems))}; correct it"
            )
        return f"{ARTEFACTS}/{self.add(parent.run, parent.backbone or backbone, seed, first=first)}"


def _providers(recipes: Mapping[str, Recipe], names: Sequence[str]) -> list[str]:
    """Returns the union of the providers of the named recipes; all providers for other names."""
    allowed: set[str] = set()
    for name in names:
        owner = name.partition("/")[0]
        allowed.update(recipes[owner].providers if owner in recipes else PROVIDERS)
    return [provider for provider in PROVIDERS if provider in allowed]


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

    settings: of the method or of the training, by name; if both have the name, the method's setting is used.
    Errors: InputError for an unknown setting, and for method settings without a value; all in one error.
    """
    from harness.plan.method_class import method_class
    from methods.core.train_config import TrainConfig

    fields = method_class(method).Config.model_fields
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
    """Returns the plan of these systems with all inputs of their runs; all their seeds are first ones."""
    by_id = {system.id: system.model_copy(update={"first_seeds": None}) for system in systems}
    taken = by_id.keys() & declared_systems(recipes).keys()
    for name in sorted(name for name in taken if by_id[name].variant == OWN):
        raise InputError(f"{name!r} is a declared system; rename the file")
    recipe = Recipe(name=PLAN, providers=list(providers), systems=by_id)
    return resolve({**recipes, PLAN: recipe}, [PLAN])
