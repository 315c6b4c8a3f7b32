"""The ledger of independent replications: declared studies and the published numbers that they name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from harness.errors import InputError
from harness.evidence.published import Published, known_name
from harness.io.declarations import DeclaredModel, list_declarations, read_declaration

SCOPE_FILE = "scope.yaml"

COLUMNS: dict[str, str] = {
    **dict.fromkeys(["STS12", "STS13", "STS14", "STS15", "STS16", "STSB", "SICKR"], "spearman"),
    **dict.fromkeys(["Avg", "Avg-STS12-16", "STSB-dev"], "spearman"),
    **dict.fromkeys(["AskU", "SciDocs"], "map"),
    **dict.fromkeys(["SICKE", "SNLI"], "accuracy"),
    "gain-over-simcse": "difference",
}
"""Columns that a study may report, by the published tables' column names, with their metric. `Avg` is the
mean of the seven STS test sets, `gain-over-simcse` a difference of two such means."""

Kind = Literal["re-run", "other-recipe", "checkpoint", "quoted"]
"""Origin of a number: trained by the published recipe as far as stated, trained with a stated difference,
measured on released weights, or quoted (which is not evidence)."""


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
        if self.low is not None and self.high is not None:
            return (self.low + self.high) / 2
        return self.mean


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
    with numbers of another study. unconverged: its training had not converged, so its runs are listed but not
    counted.
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
    unconverged: bool = False
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
        return self.doubt or ("not converged" if self.unconverged else "quoted" * (self.kind == "quoted"))

    def not_counted_in(self, column: str) -> str:
        """Reason why its number in a column does not count, empty if it counts."""
        pairs = self.settings.sick_r_pairs
        other_set = pairs is not None and column in OF_SICK_R
        return self.not_counted or (f"SICK-R of {pairs:,} pairs" if other_set else "")

    @property
    def link(self) -> str:
        """The address of the source."""
        if self.source.startswith("arxiv:"):
            return f"https://arxiv.org/abs/{self.source.removeprefix('arxiv:')}"
        return f"https://github.com/{self.source.replace('#', '/issues/')}"


class StudyFile(DeclaredModel):
    """One file of studies."""

    studies: list[Study] = Field(min_length=1)


class Group(DeclaredModel):
    """A group that counts as one source: its papers and works in leaderboards/published, and its
    repositories."""

    papers: list[str] = Field(default_factory=list)
    works: list[str] = Field(default_factory=list)
    sources: list[str] = Field(default_factory=list)


class Scope(DeclaredModel):
    """scope.yaml. same: published rows that are another row's system; searched: systems looked for."""

    groups: dict[str, Group]
    same: dict[str, str]
    searched: list[str]


@dataclass(frozen=True)
class Ledger:
    """All studies, their numbers in points, and groups that count as one source."""

    studies: tuple[Study, ...]
    scope: Scope

    def of(self, system: str) -> list[Study]:
        """Returns the studies of a published row's system, under all of its names."""
        return self._by_system.get(self.plain(system), [])

    @cached_property
    def _by_system(self) -> dict[str, list[Study]]:
        studies: dict[str, list[Study]] = {}
        for study in self.studies:
            studies.setdefault(self.plain(study.system), []).append(study)
        return studies

    def on(self, backbone: str) -> list[Study]:
        """Returns the studies of every system on a backbone."""
        return self._by_backbone.get(backbone, [])

    @cached_property
    def _by_backbone(self) -> dict[str, list[Study]]:
        found: dict[str, list[Study]] = {}
        for study in self.studies:
            found.setdefault(study.system.partition("@")[2], []).append(study)
        return found

    def plain(self, system: str) -> str:
        """Returns the key of a published row with the first name of its system."""
        name, at, backbone = system.partition("@")
        return f"{self.scope.same.get(name, name)}{at}{backbone}"

    def measured_by(self, study: Study) -> str:
        """Returns the measurer: the name in the study, the group that owns its source, or the source."""
        return study.by or self._group("sources", study.source)

    def reported_by(self, paper: str, work: str | None) -> str:
        """Returns the authors of a reported value: of the paper, or of the work it cites."""
        return self._group("papers", paper) if work is None else self._group("works", work)

    def searched(self, system: str) -> bool:
        """Returns whether re-runs of a system by others were looked for."""
        return self.plain(system) in self.scope.searched

    def _group(self, kind: str, name: str) -> str:
        owners = (owner for owner, group in self.scope.groups.items() if name in getattr(group, kind))
        return next(owners, name)


def load_ledger(folder: Path, published: Published) -> Ledger:
    """Returns the ledger of a folder; `published` holds the numbers that studies name by their table.

    Errors: InputError if a file is invalid, or a reported number is missing or appears twice.
    """
    scope = read_declaration(folder / SCOPE_FILE, Scope)
    _check_scope(folder / SCOPE_FILE, scope, published)
    studies: dict[str, Study] = {}
    for path in (path for path in list_declarations(folder) if path.name != SCOPE_FILE):
        for index, study in enumerate(read_declaration(path, StudyFile).studies):
            where = f"{path}: studies.{index}"
            try:
                studies[where] = _with_reported(study, published)
            except (InputError, ValueError) as error:
                raise InputError(f"{where}: {error}; correct the file") from None
    ledger = Ledger(tuple(studies.values()), scope)
    _check_repeats(ledger, list(studies))
    return ledger


def _with_reported(study: Study, published: Published) -> Study:
    reported = study.reported
    if reported is None:
        return study
    table = published.table(reported.table)
    row = published.row(reported.table, reported.row or study.system)
    seeds = reported.seeds or row.seeds or 1

    def points(column: str) -> float:
        value = table.compared(row, known_name(column, table.columns, f"column of {reported.table}"))
        if value is None:
            raise InputError(f"{reported.table} has no number for {row.key} in {column}")
        return round(value * 100 / table.scale, 4)

    scores: dict[str, Score] = {}
    for column in reported.columns:
        if isinstance(reported.columns, dict):
            values = [points(name) for name in reported.columns[column]]
            scores[column] = values if len(values) > 1 else values[0]
        else:
            scores[column] = Summary(mean=points(column), n=seeds) if seeds > 1 else points(column)
    twice = sorted(scores.keys() & study.scores.keys())
    if twice:
        raise InputError(f"{study.system}: {', '.join(twice)} both reported and stated")
    return study.model_copy(update={"scores": {**scores, **study.scores}})


def _check_scope(path: Path, scope: Scope, published: Published) -> None:
    works = {work for paper in published.papers.values() for work in paper.works}
    for kind, known in (("papers", set(published.papers)), ("works", works), ("sources", None)):
        names = [name for group in scope.groups.values() for name in getattr(group, kind)]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"{path}: {kind} {name!r} is in two groups")
            if known is not None and name not in known:
                raise InputError(f"{path}: {kind} {name!r} is not known")


def runs_of(score: Score) -> list[float]:
    """Returns the single runs of a score; a summary has none."""
    return [score] if isinstance(score, float) else list(score) if isinstance(score, list) else []


def _check_repeats(ledger: Ledger, where: list[str]) -> None:
    """Checks that measurers state a run once: all other studies with it must list the column in `repeats`."""
    holders: dict[tuple[str, ...], set[int]] = {}
    for number, study in enumerate(ledger.studies):
        for column, score in study.scores.items():
            for value in [repr(run) for run in runs_of(score)] or [repr(score)]:
                key = (study.system, study.kind, ledger.measured_by(study), column, value)
                holders.setdefault(key, set()).add(number)
    for (system, _, by, column, value), numbers in holders.items():
        first = [number for number in sorted(numbers) if column not in ledger.studies[number].repeats]
        if len(first) != 1:
            fault = "in two studies" if first else "marked as repeated, but in no other study"
            raise InputError(
                f"{where[max(first or numbers)]}: {system}: {column} {value} by {by} is {fault}; keep it "
                f"in one study and add `repeats` to the others"
            )
