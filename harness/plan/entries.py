"""The resolved plan as typed values: runs, and what they are made from."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from harness.data.sources import ProviderName
from harness.errors import InputError, near_matches
from harness.io.declarations import (
    DeclaredModel,
    Name,
    RelativePath,
    folder_in,
    refused_in_one_line,
)
from harness.paths import ARTEFACTS, BACKBONES, CORPORA, FURTHER_RUNS, PARAMS, REPORTS, SCORES, TEACHERS
from harness.plan.chains import check_chains, check_portable
from harness.process import Arithmetic

Start = Literal["identity", "mean"]
"""See `methods.core.words.Start`, which loads torch."""
NOT_IDENTITY = ("tasks", "weights", "outputs")
"""Entries of a run that do not affect training."""

BackboneFolder = Annotated[str, folder_in("backbones")]
CorpusFolder = Annotated[str, folder_in("data", "corpora")]
StartFolder = Annotated[str, folder_in("backbones", "artefacts")]
ParentFolder = Annotated[str, folder_in("artefacts", "teachers", "backbones", "data", "corpora")]
OriginFolder = Annotated[str, folder_in("data", "backbones")]
InputFolder = Annotated[str, folder_in("data", "backbones", "corpora")]
SourceFolder = Annotated[str, folder_in("data")]
OutputFolder = Annotated[str, Field(pattern=rf"^({REPORTS}|{re.escape(str(FURTHER_RUNS))}/[^/]+)$")]


class Run(DeclaredModel):
    """One training run with everything resolved; paths are relative to the project root."""

    id: Name = Field(description="the system, equal over backbones and seeds")
    method: Name
    variant: str
    backbone: StartFolder = Field(
        description="folder with the initial weights: backbones/NAME, or an artefact"
    )
    pooling: str | None
    corpus: CorpusFolder = Field(
        description="folder data/NAME of a source or corpora/NAME of a derived corpus"
    )
    corpus_share: float = Field(gt=0, le=1, description="nested random share of the corpus that is used")
    parent: ParentFolder = Field(
        description="folder of the parent artefact or teacher; the corpus if there is no parent"
    )
    seed: int = Field(ge=0)
    text: Literal["senteval", "raw"]
    weights: Literal["best-dev", "last", "both"]
    arithmetic: Arithmetic = Field(default="native", description="see harness/process.py")
    tasks: list[str] = Field(min_length=1)
    outputs: OutputFolder = Field(
        default=str(REPORTS),
        description=f"folder of its scores, curves and losses: {REPORTS}, or {FURTHER_RUNS}/SYSTEM__BACKBONE "
        "for a seed that `launch --first-seeds` leaves out",
    )
    config: dict[str, Any]
    train: dict[str, Any]

    @model_validator(mode="after")
    def _portable_is_fp32(self) -> Run:
        precision = self.train.get("precision", "fp32")
        if self.arithmetic == "portable" and precision != "fp32":
            raise ValueError(f"precision {precision} with portable arithmetic, which needs fp32")
        return self

    @field_validator("backbone")
    @classmethod
    def _artefact_names_a_run(cls, folder: str) -> str:
        if Path(folder).parent == ARTEFACTS and folder.count("__") != 2:
            raise ValueError(f"expected the artefact of a run, {ARTEFACTS}/SYSTEM__BACKBONE__sSEED")
        return folder

    @property
    def backbone_name(self) -> str:
        """Name of the backbone, also if training continues from the artefact of an earlier run."""
        name = Path(self.backbone).name
        return name.split("__")[1] if Path(self.backbone).parent == ARTEFACTS else name

    @property
    def parent_folder(self) -> Path | None:
        return None if self.parent == self.corpus else Path(self.parent)

    @property
    def is_first(self) -> bool:
        """Whether `launch --first-seeds` runs it."""
        return self.outputs == str(REPORTS)

    def scores(self, key: str) -> Path:
        """Returns the file with its scores; key: of the run."""
        return Path(self.outputs, SCORES.name, f"{key}.json")

    def needs(self) -> set[str]:
        """Returns the keys of the runs that it starts from or learns from."""
        folders = map(Path, (self.backbone, self.parent))
        return {folder.name for folder in folders if folder.parent == ARTEFACTS}

    def folders(self) -> dict[str, Path]:
        """Returns the folders that its training reads, by their part in it."""
        parent = {"parent": self.parent_folder} if self.parent_folder else {}
        return {"backbone": Path(self.backbone), "corpus": Path(self.corpus), **parent}

    def read_settings(self) -> tuple[Any, Any, Any]:
        """Returns the method's class, its Config and the TrainConfig; InputError names a wrong setting."""
        from harness.plan.method_class import method_class
        from methods.core.train_config import TrainConfig

        method = method_class(self.method)
        where = f"run {self.id} seed {self.seed}"
        with refused_in_one_line(where):  # texts were checked when the plan was read
            return method, method.Config.model_validate(self.config), TrainConfig.model_validate(self.train)

    def recipe_hash(self) -> str:
        """Returns the sha256 of the entry without its seeds, equal over a system's seeds."""
        entry = self.model_dump(exclude={"seed", *NOT_IDENTITY})
        for need in ("backbone", "parent"):
            entry[need] = entry[need].removesuffix(f"__s{self.seed}")
        return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()

    def described(self, key: str) -> dict[str, Any]:
        """Returns the values of the run in the record of its artefact."""
        values = self.model_dump(include={"id", "method", "variant", "seed", "text", "config", "train"})
        return {**values, "key": key, "backbone": self.backbone_name, "recipe": self.recipe_hash()}

    def training_entry(self) -> dict[str, Any]:
        """Returns the entries that determine the training, for the run's identity."""
        entry = self.model_dump(exclude=set(NOT_IDENTITY))
        entry["train"] = {key: value for key, value in self.train.items() if key != "save_every"}
        return entry


class WordShape(DeclaredModel):
    """The BERT that is built over word vectors."""

    vocabulary: int = Field(ge=1, description="the most frequent words that it keeps")
    copies: int = Field(ge=1, description="its width in word vectors, which are concatenated")
    layers: int = Field(ge=0)
    heads: int = Field(ge=1)
    inner: int = Field(ge=1, description="width of the feed-forward layers")
    positions: int = Field(ge=1, description="longest input in words, special tokens included")
    dropout: float = Field(ge=0, lt=1)
    start: Start = Field(description="initial output of a layer: the token, or the mean of all tokens")
    pooling: Literal["cls", "mean"] = Field(description="pooling stated in its folder; a run sets its own")
    seed: int = Field(ge=0, description="seed of the random weights")


class Backbone(DeclaredModel):
    """The origin of backbones/NAME: a copy of a folder, its first layers, or a BERT over its word vectors."""

    origin: OriginFolder
    corpus: InputFolder = Field(
        description="folder of the corpus whose mean word vector is subtracted; otherwise the origin"
    )
    layers: int | None = Field(ge=1)
    shape: WordShape | None = Field(default=None, exclude_if=lambda shape: shape is None)

    @property
    def centre(self) -> Path | None:
        """The corpus whose mean word vector is subtracted, None if vectors are unchanged."""
        return None if self.corpus == self.origin else Path(self.corpus)


class Corpus(DeclaredModel):
    """The origin of corpora/NAME: a corpus and its augmentations, each a view next to its sentences."""

    origin: CorpusFolder = Field(description="folder of the corpus that is augmented")
    tool: CorpusFolder = Field(
        description="folder of the model, lexicon or corpus that the views use; otherwise the origin"
    )
    seed: int = Field(ge=0)
    rows: int | None = Field(ge=1, description="this many rows, evenly spread over the origin; null: all")
    arithmetic: Arithmetic = "native"
    views: list[dict[str, Any]] = Field(min_length=1, description="see harness/data/augmentation/views.py")


class Teacher(DeclaredModel):
    """The encoder and the corpus of teachers/NAME; `pooling` if the encoder's folder states none."""

    encoder: BackboneFolder
    corpus: CorpusFolder
    arithmetic: Arithmetic = "native"
    pooling: str | None = Field(default=None, exclude_if=lambda pooling: pooling is None)

    def stated(self) -> dict[str, str]:
        """Returns the values of the teacher in the record of its vectors."""
        pooling = self.pooling or "as its folder states"
        return {"encoder": self.encoder, "corpus": self.corpus, "pooling": pooling}


class SourceLink(DeclaredModel):
    """One link of a chain over the sources that a reader reads: DVC does not accept a list of dependencies.

    The last link has the reader's name; its file has the hashes of all links.
    """

    source: SourceFolder = Field(description="folder data/NAME of the source that this link adds")
    after: RelativePath = Field(description="file of the link before; at the first link the source again")


class SourceEntry(DeclaredModel):
    """The sha256 of a source's entry in the sources table, so that a changed entry fetches again."""

    entry: str


class Params(DeclaredModel):
    """The whole of params.yaml."""

    plan: list[str] = Field(min_length=1)
    providers: list[ProviderName]
    sources: dict[Name, SourceEntry]
    backbones: dict[Name, Backbone]
    corpora: dict[Name, Corpus]
    teachers: dict[Name, Teacher]
    reads: dict[Name, SourceLink] = Field(
        description="readers are selection-FORM and evaluation-FORM of text"
    )
    further: dict[Name, list[int]] = Field(
        default_factory=dict,
        description="SYSTEM__BACKBONE -> the seeds that `launch --first-seeds` leaves out",
    )
    runs: dict[Name, Run]

    @model_validator(mode="after")
    def _chains_end(self) -> Params:
        """Refuses entries derived from themselves or over a long chain."""
        links: dict[str, set[str]] = {
            f"reads {name}": {f"reads {Path(link.after).stem}"} if link.after != link.source else set()
            for name, link in self.reads.items()
        }
        check_chains({**self._made_from(), **links})
        return self

    def _made_from(self) -> dict[str, set[str]]:
        runs = self.runs.items()
        return {
            **{f"{BACKBONES}/{name}": {entry.origin, entry.corpus} for name, entry in self.backbones.items()},
            **{f"{CORPORA}/{name}": {entry.origin, entry.tool} for name, entry in self.corpora.items()},
            **{f"{TEACHERS}/{name}": {entry.encoder, entry.corpus} for name, entry in self.teachers.items()},
            **{f"{ARTEFACTS}/{key}": {run.backbone, run.parent, run.corpus} for key, run in runs},
        }

    @model_validator(mode="after")
    def _portable_is_made_of_portable(self) -> Params:
        """Refuses portable entries that depend on native entries."""
        arithmetic = {
            **{f"{CORPORA}/{name}": entry.arithmetic for name, entry in self.corpora.items()},
            **{f"{TEACHERS}/{name}": entry.arithmetic for name, entry in self.teachers.items()},
            **{f"{ARTEFACTS}/{key}": run.arithmetic for key, run in self.runs.items()},
        }
        check_portable(self._made_from(), arithmetic)
        return self

    def digest(self) -> str:
        """Returns a digest of all values, independent of the file's formatting."""
        values = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(values.encode()).hexdigest()[:12]

    def run(self, key: str) -> Run:
        """Returns one run; InputError with near matches for an unknown key."""
        if key not in self.runs:
            raise InputError(
                f"run {key!r} is not in params.yaml, expected one of its {len(self.runs)} runs"
                f"{near_matches(key, sorted(self.runs))}; see `sentbench list runs`"
            )
        return self.runs[key]

    def teacher(self, name: str) -> Teacher:
        """Returns the entry of a teacher; InputError for an unknown name."""
        if name not in self.teachers:
            known = ", ".join(self.teachers)
            raise InputError(f"teacher {name!r} is not in params.yaml, expected one of {known}")
        return self.teachers[name]

    def folders_read(self, reader: str) -> list[str]:
        """Returns the folders data/NAME that `selection-FORM` or `evaluation-FORM` reads, sorted.

        Errors: InputError if one of its links is missing.
        """
        name, folders = reader, []
        while name in self.reads:
            link = self.reads[name]
            folders.append(link.source)
            if link.after == link.source:
                return sorted(folders)
            name = Path(link.after).stem
        raise InputError(f"{PARAMS}: {name!r} is not in `reads`, and {reader} needs it; run `sentbench plan`")
