"""The declarations of recipes/ as typed values: systems, backbones, derived corpora."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from harness.data.sources import PROVIDERS, ProviderName
from harness.errors import InputError, near_matches
from harness.io.declarations import DeclaredModel, Name, read_declaration, read_declarations, validated
from harness.paths import RECIPES, declarations_of, declared
from harness.plan.entries import WordShape
from harness.plan.params_file import merge
from harness.process import Arithmetic

BACKBONE_FILE, CORPUS_FILE, BLOCK_FILE = "backbones.yaml", "corpora.yaml", "blocks.yaml"
"""Files of recipes/ that are not recipes."""
Blocks = dict[Name, dict[str, Any]]
Precision = Literal["fp32", "bf16"]


class Parent(DeclaredModel):
    """Reference to a run's parent or start: a teacher's vectors, a run of the same seed, or a backbone.

    With `run`, `backbone` names another backbone than the run's own.
    """

    teacher: Name | None = None
    run: Name | None = None
    backbone: Name | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Parent:
        if (self.teacher is None) == (self.run is None and self.backbone is None):
            raise ValueError("expected one of the keys teacher, run (with backbone next to it), backbone")
        return self


class System(DeclaredModel):
    """One system of a recipe with its blocks merged; its runs differ in backbone and seed.

    id: its name everywhere. variant: its label for a reader. preset: which of its recipe's presets it uses.
    parent: further input of training besides the corpus. start: source of the initial weights, if not the
    plain backbone. first_seeds: how many of its seeds `launch --first-seeds` runs, in their order; null: all.
    no_verdict: reason why its runs give no verdict on a reported number (corpus or settings
    differ from the paper); it is not part of a run.
    """

    id: Name
    method: Name
    variant: str
    preset: Name | None = None
    backbones: list[Name] = Field(min_length=1)
    seeds: list[Annotated[int, Field(ge=0)]] = Field(min_length=1)
    first_seeds: int | None = Field(default=None, ge=1)
    pooling: str | None
    corpus: Name
    corpus_share: float = Field(default=1.0, gt=0, le=1)
    text: Literal["senteval", "raw"] = "senteval"
    weights: Literal["best-dev", "last", "both"] = "both"
    arithmetic: Arithmetic = "native"
    tasks: list[str] = Field(min_length=1)
    parent: Parent | None = None
    start: Parent | None = None
    no_verdict: str = ""
    config: dict[str, Any]
    train: dict[str, Any]

    @model_validator(mode="after")
    def _nothing_twice(self) -> System:
        for key, values in (("seeds", self.seeds), ("backbones", self.backbones), ("tasks", self.tasks)):
            repeated = [value for index, value in enumerate(values) if value in values[:index]]
            if repeated:
                raise ValueError(f"{key} has {repeated[0]!r} twice")
        return self

    def on(self, backbones: list[str]) -> System:
        """Returns the system with only these backbones."""
        return self.model_copy(update={"backbones": backbones})

    def seeds_wanted(self, wanted: int | None) -> list[int]:
        """Returns its declared seeds first, then the smallest unused numbers.

        A system that is not trained and draws no random numbers declares a single seed and keeps it.
        """
        if wanted is None or (len(self.seeds) == 1 and self.train.get("steps") == 0):
            return self.seeds
        more = [seed for seed in range(wanted) if seed not in self.seeds]
        return [*self.seeds, *more][:wanted]


class SelectedSystem(DeclaredModel):
    """A system of another recipe, on some of its backbones; seeds: their number, if not the recipe's."""

    system: Name
    backbones: list[Name] = Field(min_length=1)
    seeds: int | None = Field(default=None, ge=1)


class RecipeFile(DeclaredModel):
    """A recipe as it is written: a run or a block starts from the blocks that it uses; its own keys win.

    A recipe without runs is a selection from other recipes.
    """

    name: Name
    presets: list[Name] = Field(default_factory=list)
    providers: list[ProviderName] = Field(default=list(PROVIDERS), min_length=1)
    groups: dict[Name, list[Name]] = Field(default_factory=dict)
    takes: list[SelectedSystem] = Field(default_factory=list)
    tasks: list[str] = Field(default_factory=list)
    blocks: Blocks = Field(default_factory=dict)
    runs: list[dict[str, Any]] = Field(default_factory=list)

    @model_validator(mode="after")
    def _taken_once(self) -> RecipeFile:
        taken = [selection.system for selection in self.takes]
        if twice := [name for name in taken if taken.count(name) > 1]:
            raise ValueError(f"takes {twice[0]} twice")
        return self


class Recipe(RecipeFile):
    """One file of recipes/ with its systems by id, in which the blocks of its runs are merged.

    presets: blocks of settings with separate published numbers, if there are several sets.
    groups: systems that share a plan name. takes: systems of other recipes that its plan includes; tasks: the
    tasks of its plan.
    """

    systems: dict[Name, System]


class SharedBlocks(DeclaredModel):
    """The file blocks.yaml: blocks that every recipe may use."""

    blocks: Blocks


class DeclaredBackbone(DeclaredModel):
    """A copy of a source, the first layers of another backbone, or a BERT over a source of word vectors.

    `centre` is the corpus whose mean word vector is subtracted. `pooling` if a teacher states none.
    """

    source: Name | None = None
    words: Name | None = None
    shape: WordShape | None = None
    centre: Name | None = None
    cut: Name | None = None
    layers: int | None = Field(default=None, ge=1)
    pooling: str | None = None

    @model_validator(mode="after")
    def _one_origin(self) -> DeclaredBackbone:
        origins = [name for name in (self.source, self.cut, self.words) if name is not None]
        alone = (self.cut is None) == (self.layers is None) and (self.words is None) == (self.shape is None)
        if len(origins) != 1 or not alone:
            raise ValueError("expected `source`, or `cut` with `layers`, or `words` with `shape`")
        if self.centre is not None and self.words is None:
            raise ValueError("`centre` needs `words`")
        return self


class DeclaredCorpus(DeclaredModel):
    """A derived corpus: an origin, its views, and the model, lexicon or second corpus that they use."""

    origin: Name
    tool: Name | None = None
    seed: int = Field(ge=0)
    rows: int | None = Field(default=None, ge=1)
    views: list[dict[str, Any]] = Field(min_length=1)


def load_recipes(folder: Path = RECIPES) -> dict[str, Recipe]:
    """Returns all recipes by name.

    Errors: InputError for an invalid recipe, an unknown block, or a repeated name or id.
    """
    recipes: dict[str, Recipe] = {}
    owner: dict[str, str] = {}
    shared = declared(folder) / BLOCK_FILE
    blocks = read_declaration(shared, SharedBlocks).blocks if shared.is_file() else {}
    for path in declarations_of(declared(folder)):
        if path.name in (BACKBONE_FILE, CORPUS_FILE, BLOCK_FILE):
            continue
        written = read_declaration(path, RecipeFile)
        if written.name in recipes:
            raise InputError(f"{path}: another recipe is called {written.name!r}; rename it")
        systems: dict[str, System] = {}
        for system in _systems_of(written, blocks, path):
            if system.id in owner:
                raise InputError(f"{path}: run id {system.id!r} is also in {owner[system.id]}; rename one")
            owner[system.id] = path.name
            systems[system.id] = system
        recipes[written.name] = Recipe(systems=systems, **written.model_dump(exclude={"blocks", "runs"}))
    _check_names(recipes)
    return recipes


def _check_names(recipes: Mapping[str, Recipe]) -> None:
    systems = declared_systems(recipes)
    runs = [f"{name}@{backbone}" for name, system in systems.items() for backbone in system.backbones]
    for recipe in recipes.values():
        named = [
            (f"group {recipe.name}/{group} names {name!r}", name, list(systems))
            for group, members in recipe.groups.items()
            for name in members
        ]
        named += [
            (f"recipe {recipe.name} takes {taken.system}@{backbone}", f"{taken.system}@{backbone}", runs)
            for taken in recipe.takes
            for backbone in taken.backbones
        ]
        for where, name, known in named:
            if name not in known:
                raise InputError(
                    f"{where}, which no recipe declares{near_matches(name, known)}; correct the recipe"
                )


def declared_systems(recipes: Mapping[str, Recipe]) -> dict[str, System]:
    """Returns every system that a recipe declares, by id."""
    return {system: entry for recipe in recipes.values() for system, entry in recipe.systems.items()}


def load_backbones(folder: Path = RECIPES) -> dict[str, DeclaredBackbone]:
    """Returns the declared backbones by name. Errors: InputError in one line."""
    return read_declarations(declared(folder) / BACKBONE_FILE, DeclaredBackbone)


def load_corpora(folder: Path = RECIPES) -> dict[str, DeclaredCorpus]:
    """Returns the declared derived corpora by name. Errors: InputError in one line."""
    return read_declarations(declared(folder) / CORPUS_FILE, DeclaredCorpus)


def _systems_of(written: RecipeFile, shared: Blocks, path: Path) -> Iterator[System]:
    if not written.runs and not written.takes:
        raise InputError(f"{path}: needs `runs` or `takes`")
    for name in written.blocks.keys() & shared.keys():
        raise InputError(f"{path}: {BLOCK_FILE} has a block {name!r} too; rename one")
    for number, run in enumerate(written.runs, 1):
        where = f"{path}: run {run.get('id', f'number {number}')}"
        settings = _merged(run, {**shared, **written.blocks}, where)
        presets = [block for block in run.get("use", ()) if block in written.presets]
        if len(presets) > 1:
            raise InputError(f"{where} uses presets {', '.join(presets)}, expected one preset")
        yield validated(System, {**settings, "preset": next(iter(presets), None)}, where=where)


def _merged(
    entry: Mapping[str, Any], blocks: Blocks, where: str, users: tuple[str, ...] = ()
) -> dict[str, Any]:
    used = entry.get("use", [])
    if not isinstance(used, list):
        raise InputError(f"{where}: use is {used!r}, expected a list of blocks")
    for block in used:
        if not isinstance(block, str) or block not in blocks:
            raise InputError(
                f"{where} uses block {block!r}, expected one of {', '.join(blocks)}"
                f"{near_matches(str(block), list(blocks))}; correct it"
            )
        if block in users:
            raise InputError(f"{where}: block {block!r} uses itself through {', '.join(users)}")
    settings = {key: value for key, value in entry.items() if key != "use"}
    return merge(*(_merged(blocks[block], blocks, where, (*users, block)) for block in used), settings)
