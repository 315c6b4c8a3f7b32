"""The ledger of independent replications: declared studies and the published numbers that they name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import Field

from harness.errors import InputError
from harness.evidence.published import Published, known_name
from harness.evidence.studies import Score, Study, StudyFile, Summary, runs_of
from harness.io.declarations import DeclaredModel, list_declarations, read_declaration

SCOPE_FILE = "scope.yaml"


class Group(DeclaredModel):
    """A group that counts as one source: its papers and works in leaderboards/published, and its
    repositories."""

    papers: list[str] = Field(default_factory=list)
    works: list[str] = Field(default_factory=list)
    sources: list[str] = Field(default_factory=list)


class Scope(DeclaredModel):
    """scope.yaml. same: published rows that are another row's system; searched: systems with a search."""

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
        by_backbone: dict[str, list[Study]] = {}
        for study in self.studies:
            by_backbone.setdefault(study.system.partition("@")[2], []).append(study)
        return by_backbone

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
        name = known_name(column, table.columns, f"column of {reported.table}")
        number = published.number(reported.table, row.key, name)
        if number is None:
            raise InputError(f"{reported.table} has no number for {row.key} in {column}")
        return number.value

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
