"""params.yaml as typed values: the resolved list of runs. The only reader of that file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from harness.errors import InputError, near_matches

PARAMS = Path("params.yaml")
KEY = r"^[a-z0-9_-]+$"
NOT_IDENTITY = ("tasks", "weights")
"""Entries of a run that do not change what is trained."""


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Run(_Strict):
    """One training run with everything resolved; paths are relative to the project root."""

    id: str = Field(pattern=KEY, description="the system, equal over backbones and seeds")
    method: str
    variant: str
    backbone: str = Field(description="folder training starts from: backbones/NAME, or a run's artefact")
    pooling: str | None
    corpus: str = Field(description="folder data/NAME of a source or corpora/NAME of a derived corpus")
    corpus_share: float = Field(gt=0, le=1, description="nested random share of the corpus that is used")
    parent: str = Field(
        description="folder of the parent artefact or teacher; the corpus where there is none"
    )
    seed: int = Field(ge=0)
    text: Literal["senteval", "raw"]
    weights: Literal["best-dev", "last", "both"]
    tasks: list[str] = Field(min_length=1)
    config: dict[str, Any]
    train: dict[str, Any]

    @property
    def backbone_name(self) -> str:
        """Name of the backbone, also where training goes on from the artefact of an earlier run."""
        name = Path(self.backbone).name
        return name.split("__")[1] if self.backbone.startswith("artefacts/") else name

    @property
    def parent_folder(self) -> Path | None:
        return None if self.parent == self.corpus else Path(self.parent)

    def read_settings(self) -> tuple[Any, Any, Any]:
        """Returns the method's class, its Config and the TrainConfig; InputError names what is off."""
        from methods.core.train_config import TrainConfig
        from methods.registry import load_method

        method = load_method(self.method)
        try:
            return method, method.Config.model_validate(self.config), TrainConfig.model_validate(self.train)
        except ValidationError as error:
            raise InputError(f"run {self.id} seed {self.seed}: {first_problem(error)}") from None

    def recipe_hash(self) -> str:
        """Returns the sha256 of the entry without its seed and its parents': equal over a system's seeds."""
        entry = self.model_dump(exclude={"seed", *NOT_IDENTITY})
        for need in ("backbone", "parent"):
            entry[need] = entry[need].removesuffix(f"__s{self.seed}")
        return _sha256(entry)

    def training_entry(self) -> dict[str, Any]:
        """Returns what determines the training, for the run's identity."""
        entry = self.model_dump(exclude=set(NOT_IDENTITY))
        entry["train"] = {key: value for key, value in self.train.items() if key != "save_every"}
        return entry


class Backbone(_Strict):
    """How backbones/NAME is made: a folder as it is, or its first layers."""

    origin: str
    layers: int | None = Field(ge=1)


class Corpus(_Strict):
    """How corpora/NAME is made: rewrites of a corpus, each a view beside its sentences."""

    origin: str = Field(description="folder of the corpus that is rewritten")
    tool: str = Field(
        description="folder of the model, lexicon or corpus that the views use; else the origin"
    )
    seed: int = Field(ge=0)
    rows: int | None = Field(ge=1, description="this many rows, evenly spread over the origin; null: all")
    views: list[dict[str, Any]] = Field(min_length=1, description="see harness/rewriting/views.py")


class Teacher(_Strict):
    """Which encoder's vectors of which corpus teachers/NAME holds; `pooling` where its folder states none."""

    encoder: str
    corpus: str
    pooling: str | None = None

    @model_serializer(mode="wrap")
    def _without_null(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """An encoder that states its pooling has an entry of two keys."""
        return {key: value for key, value in handler(self).items() if value is not None}


class Code(_Strict):
    """Two folders that a fingerprint covers; a file of the first kind is what changes most."""

    code: str
    base: str


class Source(_Strict):
    """The sha256 of a source's entry in the sources table, so that a changed entry fetches again."""

    entry: str


class Params(_Strict):
    """The whole of params.yaml."""

    plan: list[str]
    tiers: list[Literal["embedded", "system", "mirror", "hub"]]
    sources: dict[str, Source]
    backbones: dict[str, Backbone]
    corpora: dict[str, Corpus]
    teachers: dict[str, Teacher]
    code: dict[str, Code]
    reads: dict[Literal["selection", "evaluation"], list[str]] = Field(description="sources each stage reads")
    runs: dict[str, Run]

    def run(self, key: str) -> Run:
        """Returns one run; InputError with near matches if there is none of that key."""
        if key not in self.runs:
            raise InputError(
                f"run {key!r} is not in params.yaml, expected one of its {len(self.runs)} runs"
                f"{near_matches(key, sorted(self.runs))}; see `sentbench list runs`"
            )
        return self.runs[key]


def read_params(path: Path = PARAMS) -> Params:
    """Returns the resolved plan.

    Errors: InputError in one line if the file is missing or not YAML, has an unknown or missing key, or a
    value of the wrong type (a number such as 3e-5 that YAML reads as text).
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected the resolved plan; run `sentbench plan small`")
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        line = " ".join(str(error).split())
        raise InputError(f"{path}: not YAML ({line}); mend it or run `sentbench plan` again") from None
    try:
        return Params.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{path}: {first_problem(error)}") from None


def first_problem(error: ValidationError) -> str:
    """Returns the first problem of a validation as one line: place, value, expectation."""
    problem = error.errors()[0]
    place = ".".join(str(part) for part in problem["loc"]) or "the entry"
    found = problem.get("input")
    if problem["type"] == "extra_forbidden":
        return f"unknown key {place}, expected only known keys; remove it or mend its spelling"
    if problem["type"] == "missing":
        return f"key {place} is missing; add it"
    hint = "; write 3.0e-5, YAML reads 3e-5 as text" if isinstance(found, str) and _is_number(found) else ""
    shown = json.dumps(found, default=str)
    message = problem["msg"].removeprefix("Value error, ")
    return f"{place} is {shown[:80]}: {message[:1].lower()}{message[1:]}{hint}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _sha256(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
