"""The declarations of `leaderboards/evidence`: studies, and what is known about who made them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from harness.declarations import Declaration

COLUMNS: dict[str, str] = {
    **dict.fromkeys(["STS12", "STS13", "STS14", "STS15", "STS16", "STSB", "SICKR"], "spearman"),
    **dict.fromkeys(["Avg", "Avg-STS12-16", "STSB-dev"], "spearman"),
    **dict.fromkeys(["AskU", "SciDocs"], "map"),
    **dict.fromkeys(["SICKE", "SNLI"], "accuracy"),
    "gain-over-simcse": "difference",
}
"""What a study may have measured, by the published tables' column names, with its metric. `Avg` is the mean
of the seven STS test sets, `gain-over-simcse` a difference of two such means."""

Kind = Literal["re-run", "other-recipe", "checkpoint", "quoted"]
"""How a number came about: trained by the published recipe as far as stated, trained with a stated
difference, measured on released weights, or repeated from print (which is no evidence)."""


class Summary(Declaration):
    """Several runs of which only the mean or the standard deviation is known; in points."""

    mean: float | None = Field(default=None, ge=0, le=100)
    sd: float | None = Field(default=None, gt=0, le=50)
    n: int = Field(ge=2)

    @model_validator(mode="after")
    def check(self) -> Summary:
        """A summary says something."""
        if self.mean is None and self.sd is None:
            raise ValueError("a summary without mean and sd, expected one of them")
        return self


class Range(Declaration):
    """Several runs of which only the lowest and highest are known; in points."""

    low: float = Field(ge=0, le=100)
    high: float = Field(ge=0, le=100)

    @model_validator(mode="after")
    def check(self) -> Range:
        """The ends are in order."""
        if self.low >= self.high:
            raise ValueError(f"low {self.low} is not below high {self.high}, expected a range")
        return self


def _form(score: Any) -> str:
    """Returns which form a score has, so that a fault is told of that form alone."""
    if isinstance(score, Range) or (isinstance(score, dict) and {"low", "high"} & score.keys()):
        return "range"
    if isinstance(score, Summary | dict):
        return "summary"
    return "runs" if isinstance(score, list) else "run"


Score = Annotated[
    Annotated[float, Tag("run")]
    | Annotated[list[float], Tag("runs")]
    | Annotated[Summary, Tag("summary")]
    | Annotated[Range, Tag("range")],
    Discriminator(_form),
]
"""What a study says of one column, in points: one run, runs in the order of their seeds, or less."""


class Settings(Declaration):
    """What a study states of how it trained and evaluated; a field that is missing was not stated.

    sick_r_pairs: size of its SICK-R test set where it is not the 4,927 pairs of SentEval.
    """

    code: Literal["official", "own", "port"] | None = None
    seeds: list[int] = Field(default_factory=list)
    batch: int | None = Field(default=None, ge=1, le=65_536)
    learning_rate: float | None = Field(default=None, gt=0, lt=1)
    epochs: int | None = Field(default=None, ge=1, le=100)
    length: int | None = Field(default=None, ge=8, le=512)
    eval_every: int | None = Field(default=None, ge=1, le=100_000)
    precision: Literal["fp32", "fp16", "bf16"] | None = None
    device: str = ""
    sick_r_pairs: Literal[9927] | None = None


class Reported(Declaration):
    """Numbers that appear in leaderboards/published: they are read from there and not repeated.

    row: the published row, the study's system if empty. columns: columns by name, or for a column of the
    study the published columns that hold its seeds. seeds: runs behind each value, if the table does not
    say.
    """

    table: str
    row: str = ""
    columns: list[str] | dict[str, list[str]]
    seeds: int | None = Field(default=None, ge=2)


class Study(Declaration):
    """Numbers that one group measured of one system, from one source.

    system: key of the published row (`system/variant@backbone`). source: `owner/repository`, a thread of it
    (`owner/repository#8`), or `arxiv:NUMBER`; file: where in it. by: who measured, if not the owner of the
    source. differs: the difference of another recipe. derived: the number follows from the source, which
    does not state it. doubt: why the study is listed and not counted. repeats: columns whose numbers
    another study has. unconverged: its training had not converged, so its runs are listed and not counted.
    """

    system: str = Field(pattern=r"^[a-z0-9-]+(/[a-z0-9-]+)?(@[a-z0-9-]+)?$")
    kind: Kind
    source: str = Field(pattern=r"^(arxiv:\d{4}\.\d{4,5}|[\w.-]+/[\w.-]+(#\d+)?)$")
    file: str = ""
    by: str = ""
    settings: Settings = Settings()
    differs: str = ""
    scores: dict[str, Score] = Field(default_factory=dict)
    reported: Reported | None = None
    repeats: list[str] = Field(default_factory=list)
    derived: bool = False
    doubt: str = ""
    unconverged: bool = False
    note: str = ""

    @model_validator(mode="after")
    def check(self) -> Study:
        """Columns are known, numbers in range, and another recipe says what differs."""
        if not self.scores and self.reported is None:
            raise ValueError(f"{self.system}: no number, expected `scores` or `reported`")
        if (self.kind == "other-recipe") != bool(self.differs):
            raise ValueError(f"{self.system}: expected `differs` for another recipe and only there")
        for column, score in self.scores.items():
            check_score(self.system, column, score)
            if self.settings.seeds and isinstance(score, list) and len(score) != len(self.settings.seeds):
                raise ValueError(
                    f"{self.system}: {column} has {len(score)} values, expected {len(self.settings.seeds)}, "
                    f"one a seed"
                )
        return self

    @property
    def not_counted(self) -> str:
        """Why the study is no evidence, empty if it counts."""
        return self.doubt or ("not converged" if self.unconverged else "quoted" * (self.kind == "quoted"))

    @property
    def link(self) -> str:
        """The address of the source."""
        if self.source.startswith("arxiv:"):
            return f"https://arxiv.org/abs/{self.source.removeprefix('arxiv:')}"
        return f"https://github.com/{self.source.replace('#', '/issues/')}"


def check_score(system: str, column: str, score: Score) -> None:
    """Raises ValueError if a column is not known, a number out of range, or a list without two values."""
    if column not in COLUMNS:
        raise ValueError(f"{system}: column {column!r}, expected one of {', '.join(COLUMNS)}")
    values = score if isinstance(score, list) else [score] if isinstance(score, float) else []
    lowest = -100.0 if COLUMNS[column] == "difference" else 0.0
    for value in values:
        if not lowest <= value <= 100:
            raise ValueError(f"{system}: {column} is {value}, expected points from {lowest:g} to 100")
    if isinstance(score, list) and len(score) < 2:
        raise ValueError(f"{system}: {column} lists {len(score)} values, expected at least 2 or one number")


class StudyFile(Declaration):
    """One file of studies."""

    studies: list[Study] = Field(min_length=1)


class Group(Declaration):
    """People who count as one: their papers and works in leaderboards/published, and their sources."""

    papers: list[str] = Field(default_factory=list)
    works: list[str] = Field(default_factory=list)
    sources: list[str] = Field(default_factory=list)


class Scope(Declaration):
    """scope.yaml. same: published rows that are another row's system; searched: systems looked for."""

    groups: dict[str, Group]
    same: dict[str, str]
    searched: list[str]
