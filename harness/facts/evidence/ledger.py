"""Reading the ledger: studies, with the numbers that published tables hold for them, checked as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness.declarations import list_declarations, read_declaration
from harness.errors import InputError
from harness.facts.evidence.model import Reported, Scope, Score, Study, StudyFile, Summary, check_score
from harness.facts.published import Published, known_name

SCOPE_FILE = "scope.yaml"


@dataclass(frozen=True)
class Ledger:
    """All studies, their numbers in points, and who counts as one."""

    studies: tuple[Study, ...]
    scope: Scope

    def of(self, system: str) -> list[Study]:
        """Returns the studies of a published row's system, also where it has a second name."""
        return self._by_system.get(self.plain(system), [])

    @cached_property
    def _by_system(self) -> dict[str, list[Study]]:
        found: dict[str, list[Study]] = {}
        for study in self.studies:
            found.setdefault(self.plain(study.system), []).append(study)
        return found

    def plain(self, system: str) -> str:
        """Returns the key of a published row with the first name of its system."""
        name, at, backbone = system.partition("@")
        return f"{self.scope.same.get(name, name)}{at}{backbone}"

    def measured_by(self, study: Study) -> str:
        """Returns who measured: the name in the study, the group that owns its source, or the source."""
        return study.by or self._group("sources", study.source) or study.source

    def reported_by(self, paper: str, work: str | None) -> str:
        """Returns who stands behind a reported value: of the paper, or of the work it cites."""
        if work is not None:
            return self._group("works", work) or work
        return self._group("papers", paper) or paper

    def searched(self, system: str) -> bool:
        """Returns whether re-runs of a system by others were looked for."""
        return self.plain(system) in self.scope.searched

    def _group(self, kind: str, name: str) -> str | None:
        owners = (owner for owner, group in self.scope.groups.items() if name in getattr(group, kind))
        return next(owners, None)


def load_ledger(folder: Path, published: Published) -> Ledger:
    """Returns the ledger of a folder; `published` holds the numbers that studies name by their table.

    Errors: InputError if a file is not as declared, a reported number is not there, or a number appears
    twice.
    """
    scope = read_declaration(folder / SCOPE_FILE, Scope)
    studies: list[Study] = []
    where: list[str] = []
    for path in list_declarations(folder):
        if path.name == SCOPE_FILE:
            continue
        for index, study in enumerate(read_declaration(path, StudyFile).studies):
            where.append(f"{path}: studies.{index}")
            try:
                studies.append(_with_reported(study, published))
            except (InputError, ValueError) as error:
                raise InputError(f"{where[-1]}: {error}; correct the file") from None
    ledger = Ledger(tuple(studies), scope)
    _check_scope(folder / SCOPE_FILE, ledger, published)
    _check_repeats(ledger, where)
    return ledger


def _with_reported(study: Study, published: Published) -> Study:
    """Returns the study with the numbers of its published table among its scores."""
    if study.reported is None:
        return study
    found = _reported_scores(study.reported, study.reported.row or study.system, published)
    twice = sorted(found.keys() & study.scores.keys())
    if twice:
        raise InputError(f"{study.system}: {', '.join(twice)} both reported and stated, expected once")
    for column, score in found.items():
        check_score(study.system, column, score)
    return study.model_copy(update={"scores": {**found, **study.scores}})


def _reported_scores(reported: Reported, key: str, published: Published) -> dict[str, Score]:
    table = published.table(reported.table)
    row = published.row(reported.table, key)
    seeds = reported.seeds or row.seeds or 1

    def points(column: str) -> float:
        value = table.compared(row, known_name(column, table.columns, f"column of {reported.table}"))
        if value is None:
            raise InputError(f"{reported.table} prints nothing for {key} in {column}, expected a number")
        return round(value * 100 / table.scale, 4)

    if isinstance(reported.columns, list):
        values = {column: points(column) for column in reported.columns}
        return {
            column: Summary(mean=value, n=seeds) if seeds > 1 else value for column, value in values.items()
        }
    lists = {column: [points(name) for name in names] for column, names in reported.columns.items()}
    return {column: values if len(values) > 1 else values[0] for column, values in lists.items()}


def _check_scope(path: Path, ledger: Ledger, published: Published) -> None:
    """Papers and works of the groups exist, and nobody is in two groups."""
    works = {work for paper in published.papers.values() for work in paper.works}
    for kind, known in (("papers", set(published.papers)), ("works", works), ("sources", None)):
        names = [name for group in ledger.scope.groups.values() for name in getattr(group, kind)]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"{path}: {kind} {name!r} is in two groups, expected one; correct the file")
            if known is not None and name not in known:
                raise InputError(f"{path}: {kind} {name!r} is not known; correct or remove the name")


def runs_of(score: Score) -> list[float]:
    """Returns the single runs that a score states; none where it states only a mean, a standard deviation or
    a range.
    """
    return [score] if isinstance(score, float) else list(score) if isinstance(score, list) else []


def _check_repeats(ledger: Ledger, where: list[str]) -> None:
    """The same people state a run once: all other studies that hold it name the column in `repeats`."""
    holders: dict[tuple[str, ...], set[int]] = {}
    for number, study in enumerate(ledger.studies):
        for column, score in study.scores.items():
            for value in [repr(run) for run in runs_of(score)] or [repr(score)]:
                key = (study.system, study.kind, ledger.measured_by(study), column, value)
                holders.setdefault(key, set()).add(number)
    for (system, _, by, column, value), numbers in holders.items():
        first = [number for number in sorted(numbers) if column not in ledger.studies[number].repeats]
        if len(first) != 1:
            fault = "in two studies" if first else "said to repeat a study, and no other study has it"
            raise InputError(
                f"{where[max(first or numbers)]}: {system}: {column} {value} by {by} is {fault}; expected "
                f"one study with the number and `repeats` in all others; correct the file"
            )
