"""The bytes of one result file: reports/scores/RUN.json."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from harness.declarations import Declaration, Name

SCHEMA: Final = 1


class RunRecord(Declaration):
    """Which run the scores belong to; `identity` is the fingerprint of everything that determines them."""

    key: Name
    id: Name = Field(description="the system of the recipe: equal over backbones and seeds")
    method: Name
    variant: str
    backbone: Name
    seed: int
    recipe: str = Field(description="sha256 of the resolved run entry of params.yaml without its seed")
    identity: str


class ScoreRecord(Declaration):
    """One score in raw units; `selection` says which weights: `best-dev` or `last`."""

    task: str
    metric: str
    setting: str
    selection: Literal["best-dev", "last"]
    value: float
    n: int = Field(ge=1)


class Selection(Declaration):
    """Where the evaluated weights come from; scores are STS-B dev Spearman in raw units."""

    best_step: int
    best_dev: float
    last_step: int
    last_dev: float
    initial_dev: float


class Provenance(Declaration):
    """What the numbers depend on besides the recipe. No clock time, no host name, and no commit of our own:

    equal code in another commit is the same provenance.
    """

    code_sha256: str | None = Field(default=None, description="of the code that trains and evaluates the run")
    git_commit: str | None = Field(
        default=None, description="in a bundle for others: the commit of that code"
    )
    git_dirty: bool | None = Field(default=None, description="whether the code differed from that commit")
    encoder_sha256: str
    data_sha256: dict[str, str]
    versions: dict[str, str]
    device: str
    arithmetic: str | None = Field(
        default=None, description="`portable`, or `native` with the library that multiplies in training"
    )
    precision: str
    text: Literal["senteval", "raw"]


class ResultFile(Declaration):
    """The whole of reports/scores/RUN.json."""

    schema_: Literal[1] = Field(alias="schema")
    run: RunRecord
    scores: list[ScoreRecord]
    selection: Selection
    provenance: Provenance
    digest: Annotated[str | None, Field(description="in a file: sha256 of all the rest")] = None
