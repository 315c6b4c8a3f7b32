"""Recipes to params.yaml: from declared systems to the resolved runs. The only writer of that file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from harness import paths
from harness.data.sources import PROVIDERS
from harness.declarations import validated
from harness.disk.files import write_text
from harness.errors import InputError, near_matches
from harness.facts.spec import TableSpec
from harness.paths import ARTEFACTS, PARAMS, RECIPES, TEACHERS
from harness.plan.ablations import PREFIX
from harness.plan.entries import Params, Run, check_chains
from harness.plan.inputs import corpus_folder, narrowed, with_needs
from harness.plan.names import limited_tasks, recipes_of, select
from harness.plan.recipes import (
    DeclaredBackbone,
    DeclaredCorpus,
    Parent,
    Recipe,
    System,
    declared_systems,
    load_backbones,
    load_corpora,
)
from harness.process import Arithmetic
from methods.registry import METHODS

MOST_SEEDS = 1000
"""Seeds of one system that a plan may ask for: far beyond any comparison of this field."""


def resolve(
    recipes: Mapping[str, Recipe],
    names: Sequence[str],
    *,
    seeds: int | None = None,
    backbones: Sequence[str] | None = None,
    folder: Path = RECIPES,
    tables: Mapping[str, TableSpec] | None = None,
    arithmetic: Arithmetic | None = None,
) -> Params:
    """Returns the plan with the parents, backbones, corpora, teachers and data that its runs need.

    seeds: this many for each system that draws random numbers; backbones: only these.
    tables: by key, for names such as `pcl/table2`; a run that only tables ask for is evaluated on no data
    that they do not show. arithmetic: in place of the recipes' own.
    Errors: InputError for an unknown name, a backbone that no run of the names has, or no run at all.
    """
    if seeds is not None and not 1 <= seeds <= MOST_SEEDS:
        raise InputError(f"--seeds {seeds}: expected a number from 1 to {MOST_SEEDS}; give another")
    cuts, derived, tables = load_backbones(folder), load_corpora(folder), tables or {}
    chosen = select(recipes, names, tables)
    check_backbones(chosen, backbones, names)
    known = {**chosen, **declared_systems(recipes)}
    if arithmetic is not None:
        known = {name: system.model_copy(update={"arithmetic": arithmetic}) for name, system in known.items()}
    _check_origins(known, cuts, derived)
    corpora = {system: corpus_folder(known[system].corpus, derived) for system in known}

    def runs_of(systems: Mapping[str, System]) -> dict[str, Run]:
        runs = Runs(known, corpora)
        for system, entry in systems.items():
            for backbone in entry.backbones:
                if backbones is None or backbone in backbones:
                    for seed in entry.first_seeds(seeds):
                        runs.add(system, backbone, seed)
        return runs.found

    found, providers = runs_of(chosen), _providers(recipes, names)
    limited = limited_tasks(recipes, names, tables)
    shown = [task for tasks in limited.values() for task in tasks]
    if shown:
        others = [name for name in names if name not in limited]
        found = narrowed(found, shown, providers) | runs_of(select(recipes, others, tables))
    return with_needs(found, list(names), providers, cuts, derived)


def check_backbones(chosen: Mapping[str, System], wanted: Sequence[str] | None, names: Sequence[str]) -> None:
    """Raises InputError for a wanted backbone that none of the chosen systems has."""
    known = list(dict.fromkeys(name for entry in chosen.values() for name in entry.backbones))
    for name in wanted or ():
        if name not in known:
            raise InputError(
                f"--backbone {name}: plan {', '.join(names)} has no runs on it, expected some of "
                f"{', '.join(known)}{near_matches(name, known)}; correct it or leave it out"
            )


def _check_origins(
    systems: Mapping[str, System],
    backbones: Mapping[str, DeclaredBackbone],
    corpora: Mapping[str, DeclaredCorpus],
) -> None:
    """Raises InputError if a declared thing is made from itself, or over a chain of others without end."""
    made_from = {name: [one.run for one in (of.parent, of.start) if one] for name, of in systems.items()}
    for kind, origins in (
        ("run", made_from),
        ("backbone", {name: [of.cut] for name, of in backbones.items()}),
        ("corpus", {name: [of.origin, of.tool] for name, of in corpora.items()}),
    ):
        try:
            check_chains({name: {one for one in found if one} for name, found in origins.items()})
        except ValueError as error:
            raise InputError(f"{kind} of recipes/: {error}; correct the recipe") from None


def write_params(params: Params, path: Path = PARAMS) -> bool:
    """Writes the plan; returns whether the file changed."""
    head = (
        "# The resolved plan, written by `sentbench plan "
        + " ".join(params.plan)
        + "`; recipes/ declare it.\n"
    )
    text = head + yaml.safe_dump(params.model_dump(), sort_keys=False, width=110, allow_unicode=True)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    write_text(path, text)
    return True


def run_key(system: str, backbone: str, seed: int) -> str:
    """Returns the key of a run: system, backbone, seed."""
    return f"{system}__{backbone}__s{seed}"


@dataclass(frozen=True)
class Runs:
    """Resolved runs as they are found, each after the runs it needs.

    systems: all that may be needed, by id; corpora: the folder of each system's corpus.
    """

    systems: Mapping[str, System]
    corpora: Mapping[str, str]
    found: dict[str, Run] = field(default_factory=dict)

    def add(self, system: str, backbone: str, seed: int) -> str:
        """Adds a run and, before it, those that are its parent and its start; returns its key."""
        key = run_key(system, backbone, seed)
        if key in self.found:
            return key
        entry, corpus = self.systems[system], self.corpora[system]
        if entry.method not in METHODS:
            raise InputError(
                f"method {entry.method!r} is not known, expected one of {', '.join(METHODS)}"
                f"{near_matches(entry.method, list(METHODS))}; correct the recipe"
            )
        start = entry.start or Parent(backbone=backbone)
        needs = {
            "corpus": corpus,
            "parent": self._folder(entry.parent, key, corpus, backbone, seed) if entry.parent else corpus,
            "backbone": self._folder(start, key, corpus, backbone, seed),
        }
        settings: dict[str, Any] = entry.model_dump(
            exclude={"backbones", "seeds", "start", "preset", "no_verdict", *needs}
        )
        self.found[key] = validated(Run, {**settings, **needs, "seed": seed}, where=f"run {key}")
        return key

    def _folder(self, parent: Parent, user: str, corpus: str, backbone: str, seed: int) -> str:
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
        own = seed if parent.seed is None else parent.seed
        return f"{ARTEFACTS}/{self.add(parent.run, parent.backbone or backbone, own)}"


def _providers(recipes: Mapping[str, Recipe], names: Sequence[str]) -> list[str]:
    """Returns the providers that any of the named recipes reads from; all of them for a name of no recipe."""
    allowed: set[str] = set()
    for name in names:
        owner, _, part = name.partition("/")
        if owner == PREFIX:
            owner = recipes_of([part], recipes).get(part, "")
        allowed.update(recipes[owner].providers if owner in recipes else PROVIDERS)
    return [provider for provider in PROVIDERS if provider in allowed]
