"""Schema of a result file: reports/scores/RUN.json."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field, model_validator

from harness.io.declarations import DeclaredModel, Name

SCHEMA: Final = 1

RANGES = {
    **dict.fromkeys(("spearman", "pearson", "anisotropy"), (-1.0, 1.0)),
    **dict.fromkeys(
        ("accuracy", "dev-accuracy", "f1", "map", "mrr", "p@1", "p@5", "share-above"), (0.0, 1.0)
    ),
    "alignment": (0.0, 4.0),
    "uniformity": (-8.0, 0.0),
}
"""The values that each metric can have, in raw units."""
ROUNDING = 1e-9
"""Tolerance of a computed value outside its range."""

StepNumber = Annotated[int, Field(ge=0, le=10**9)]
Dev = Annotated[float, Field(ge=-1 - ROUNDING, le=1 + ROUNDING)]
"""A Spearman correlation on STS-B dev in raw units."""


class RunRecord(DeclaredModel):
    """The run of the scores; `identity` is the fingerprint of everything that determines them."""

    key: Name
    id: Name = Field(description="the system of the recipe: equal over backbones and seeds")
    method: Name
    variant: str
    backbone: Name
    seed: int = Field(ge=0, lt=2**63)
    recipe: str = Field(description="sha256 of the resolved run entry of params.yaml without its seed")
    identity: str


class ScoreName(NamedTuple):
    """Identification of a score in a result file."""

    task: str
    metric: str
    setting: str
    selection: str

    def __str__(self) -> str:
        return f"{self.task} {self.metric} ({self.setting}, {self.selection})"


class ScoreRecord(DeclaredModel):
    """One score in raw units; `selection` names the weights: `best-dev` or `last`."""

    task: str
    metric: str
    setting: str
    selection: Literal["best-dev", "last"]
    value: float
    n: int = Field(ge=1, le=10**12)

    @property
    def name(self) -> ScoreName:
        """Key of the score within its result."""
        return ScoreName(self.task, self.metric, self.setting, self.selection)

    @model_validator(mode="after")
    def _is_possible(self) -> ScoreRecord:
        low, high = RANGES.get(self.metric, (self.value, self.value))
        if not low - ROUNDING <= self.value <= high + ROUNDING:
            raise ValueError(f"{self.metric} of {self.value:g}, expected {low:g} to {high:g}")
        return self


class Selection(DeclaredModel):
    """Origin of the evaluated weights; scores are STS-B dev Spearman in raw units."""

    best_step: StepNumber
    best_dev: Dev
    last_step: StepNumber
    last_dev: Dev
    initial_dev: Dev


class Provenance(DeclaredModel):
    """Dependencies of the numbers besides the recipe. It excludes clock time, host name and our commit: equal
    code in another commit has the same provenance.
    """

    code_sha256: str | None = Field(
        default=None, description="fingerprint of the code that trains and evaluates the run"
    )
    git_commit: str | None = Field(default=None, description="commit of the code, in published results")
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


class ResultFile(DeclaredModel):
    """Content of reports/scores/RUN.json without its digest."""

    schema_: Literal[1] = Field(alias="schema")
    run: RunRecord
    scores: list[ScoreRecord]
    selection: Selection
    provenance: Provenance

    @model_validator(mode="after")
    def _states_each_score_once(self) -> ResultFile:
        counts = Counter(score.name for score in self.scores)
        if len(counts) < len(self.scores):
            raise ValueError(f"score {counts.most_common(1)[0][0]} is stated twice")
        return self
