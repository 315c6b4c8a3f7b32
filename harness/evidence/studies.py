"""A study: numbers that one group measured of one system, as leaderboards/evidence declares them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from harness.io.declarations import DeclaredModel

COLUMNS: dict[str, str] = {
    **dict.fromkeys(["STS12", "STS13", "STS14", "STS15", "STS16", "STSB", "SICKR"], "spearman"),
    **dict.fromkeys(["Avg", "Avg-STS12-16", "STSB-dev"], "spearman"),
    **dict.fromkeys(["AskU", "SciDocs"], "map"),
    **dict.fromkeys(["SICKE", "SNLI"], "accuracy"),
    "gain-over-simcse": "difference",
}
"""Columns that a study may report, by the published tables' column names, with their metric. `Avg` is the
mean of the seven STS test sets, `gain-over-simcse` a difference of two such means."""

Kind = Literal["re-run", "evaluation", "other-recipe", "checkpoint", "quoted"]
"""Origin of a number: trained by the published recipe as far as stated, an untrained encoder evaluated again,
trained or evaluated with a stated difference, measured on released weights, or quoted (no evidence)."""


class Summary(DeclaredModel):
    """Summary of several runs: mean, standard deviation, or lowest and highest value."""

    mean: float | None = Field(default=None, ge=0, le=100)
    sd: float | None = Field(default=None, gt=0, le=50)
    n: int | None = Field(default=None, ge=2)
    low: float | None = Field(default=None, ge=0, le=100)
    high: float | None = Field(default=None, ge=0, le=100)

    @model_validator(mode="after")
    def check(self) -> Summary:
        """Checks that a summary has a mean or a standard deviation of n runs, or a range."""
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"low {self.low} is not below high {self.high}, expected a range")
        if self.n is None and (self.low is None or self.high is None):
            raise ValueError("a summary needs n, or low and high")
        if self.n and self.mean is None and self.sd is None:
            raise ValueError("a summary needs a mean or an sd")
        return self

    @property
    def middle(self) -> float | None:
        """The mean, or the middle of a range; None if neither is known."""
        if self.mean is not None or self.low is None or self.high is None:
            return self.mean
        return (self.low + self.high) / 2


def _form(score: Any) -> str:
    """Returns the form of a score, so that errors mention only that form."""
    return "summary" if isinstance(score, Summary | dict) else "runs" if isinstance(score, list) else "run"


Points = Annotated[float, Field(ge=-100, le=100)]
Score = Annotated[
    Annotated[Points, Tag("run")]
    | Annotated[list[Points], Field(min_length=2), Tag("runs")]
    | Annotated[Summary, Tag("summary")],
    Discriminator(_form),
]
"""A study's values of one column, in points: one run, runs in the order of their seeds, or a summary."""


OF_SICK_R = ("SICKR", "Avg")
"""Columns that include the test set of SICK-R."""


class StudySettings(DeclaredModel):
    """Training and evaluation settings stated by a study; a missing field was not stated. sick_r_pairs: size
    of its SICK-R test set if it differs from SentEval's 4,927 pairs; OF_SICK_R then do not count.
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


class Reported(DeclaredModel):
    """Numbers that appear in leaderboards/published: they are read from there and not repeated.

    row: the published row, the study's system if empty. columns: columns by name, or for a column of the
    study the published ones of its seeds. seeds: runs behind each value, if the table does not say.
    """

    table: str
    row: str = ""
    columns: list[str] | dict[str, list[str]]
    seeds: int | None = Field(default=None, ge=2)


class Study(DeclaredModel):
    """Numbers that one group measured of one system, from one source.

    system: key of the published row (`system/variant@backbone`). source: `owner/repository`, a thread of it
    (`owner/repository#8`), or `arxiv:NUMBER`; file: where in it. by: who measured, if not the owner of the
    source. differs: differences of the recipe, for another recipe. derived: the number is computed from the
    source, which does not state it. doubt: reason why the study is listed but not counted. repeats: columns
    with numbers of another study. supersedes: its authors published it later in place of the row's number. A
    run counts for its recipe wherever its training stopped.
    """

    system: str = Field(pattern=r"^[a-z0-9-]+(/[a-z0-9-]+)?(@[a-z0-9-]+)?$")
    kind: Kind
    source: str = Field(pattern=r"^(arxiv:\d{4}\.\d{4,5}|[\w.-]+/[\w.-]+(#\d+)?)$")
    file: str = ""
    by: str = ""
    settings: StudySettings = StudySettings()
    differs: str = ""
    scores: dict[str, Score] = Field(default_factory=dict)
    reported: Reported | None = None
    repeats: list[str] = Field(default_factory=list)
    derived: bool = False
    doubt: str = ""
    supersedes: bool = False
    note: str = ""

    @model_validator(mode="after")
    def check(self) -> Study:
        """Checks that columns are known, and that another recipe states its differences."""
        if not self.scores and self.reported is None:
            raise ValueError(f"{self.system}: no number, expected `scores` or `reported`")
        if (self.kind == "other-recipe") != bool(self.differs):
            raise ValueError(f"{self.system}: expected `differs` for another recipe and only there")
        for column, score in self.scores.items():
            if column not in COLUMNS:
                raise ValueError(f"{self.system}: column {column!r}, expected one of {', '.join(COLUMNS)}")
            if self.settings.seeds and isinstance(score, list) and len(score) != len(self.settings.seeds):
                problem = f"{len(score)} values, expected {len(self.settings.seeds)}, one a seed"
                raise ValueError(f"{self.system}: {column} has {problem}")
        return self

    @property
    def not_counted(self) -> str:
        """Reason why the study does not count, empty if it counts."""
        if self.doubt:
            return self.doubt
        return "quoted" if self.kind == "quoted" else ""

    def not_counted_in(self, column: str) -> str:
        """Reason why its number in a column does not count, empty if it counts."""
        pairs = self.settings.sick_r_pairs
        of_others = f"SICK-R of {pairs:,} pairs" if pairs is not None and column in OF_SICK_R else ""
        repeated = "counted in another study" if column in self.repeats else ""
        return self.not_counted or of_others or repeated

    @property
    def link(self) -> str:
        """The address of the source."""
        if self.source.startswith("arxiv:"):
            return f"https://arxiv.org/abs/{self.source.removeprefix('arxiv:')}"
        return f"https://github.com/{self.source.replace('#', '/issues/')}"


class StudyFile(DeclaredModel):
    """One file of studies."""

    studies: list[Study] = Field(min_length=1)


def runs_of(score: Score) -> list[float]:
    """Returns the single runs of a score; a summary has none."""
    return [score] if isinstance(score, float) else list(score) if isinstance(score, list) else []
