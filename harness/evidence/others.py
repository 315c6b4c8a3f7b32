"""Independent evidence on one published number, separate by kind."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Literal

from harness.evidence import statistics
from harness.evidence.ledger import Ledger
from harness.evidence.numbers import PublishedNumber
from harness.evidence.studies import Study, Summary, runs_of
from harness.evidence.verdicts import Sources

Relation = Literal["independent", "same authors", "checkpoint", "other recipe"]
"""Relation of a study to a reported number: independent runs by its recipe, a second measurement by
its authors, released weights, or training by another recipe. Relations are not pooled."""

RELATIONS: tuple[Relation, ...] = ("independent", "same authors", "checkpoint", "other recipe")
EXACT = statistics.KnownSd(0.0, 0)
"""The standard deviation of a deterministic system."""


@dataclass(frozen=True)
class StudyPool:
    """The counted studies of one relation and column.

    runs: single runs by measurer; sources: the mean of the runs of each measurer (a range counts once, as its
    middle); counts: number of these runs, by default 1. competitors: the studies by authors of another method
    in the tables, by source.
    """

    studies: tuple[Study, ...]
    runs: Mapping[str, tuple[float, ...]]
    sources: Mapping[str, float]
    competitors: Mapping[str, tuple[Study, ...]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def as_sources(self) -> Sources:
        """The sources as input of `by_others`."""
        return Sources(self.sources, {name: self.counts.get(name, 1) for name in self.sources}, self.runs)

    @property
    def median(self) -> float | None:
        """The median of the sources, None without one."""
        return median(self.sources.values()) if self.sources else None

    @property
    def values(self) -> tuple[float, ...]:
        """All single runs."""
        return tuple(value for values in self.runs.values() for value in values)


@dataclass(frozen=True)
class Listed:
    """A published number that a study consists of: one of its single runs, or their mean.

    column: the study's column of these runs.
    """

    study: Study
    column: str
    is_mean: bool

    @property
    def runs(self) -> tuple[float, ...]:
        """The single runs, in points."""
        return tuple(runs_of(self.study.scores[self.column]))


@dataclass(frozen=True)
class Others:
    """Evidence on a published number besides our runs; `searched` as in `Ledger.searched`.

    by: the authors of the number. system: its row's system and backbone under their first name, shared by
    tables that quote it. sd: the standard deviation of its system that needs no seeds of ours, n = 0 for a
    deterministic one; planned: the one for planning seeds without other data. None if it was not measured.
    listed: the runs of its authors that the number is one of, or the mean of, in its own table.
    """

    pools: Mapping[Relation, StudyPool]
    uncounted: tuple[Study, ...] = ()
    searched: bool = False
    by: str = ""
    system: str = ""
    sd: statistics.KnownSd | None = None
    planned: statistics.KnownSd | None = None
    listed: Listed | None = None

    @property
    def borrowed(self) -> statistics.KnownSd | None:
        """The larger of `sd` and `planned`, to which few sources are held; None for a system without random
        draws, or without a larger study."""
        if any(study.kind == "evaluation" for study in self.independent.studies):
            return None
        if self.sd is not None and self.sd.n == 0:
            return None
        known = [sd for sd in (self.sd, self.planned) if sd is not None]
        return max(known, key=lambda sd: sd.sd, default=None)

    @property
    def studies(self) -> tuple[Study, ...]:
        """The counted studies of every relation."""
        return tuple(study for pool in self.pools.values() for study in pool.studies)

    @property
    def independent(self) -> StudyPool:
        """Runs by others that follow the recipe."""
        return self.pools["independent"]


def nothing_known() -> Others:
    """Returns the evidence for a number that no study could have measured."""
    return Others(dict.fromkeys(RELATIONS, StudyPool((), {}, {})))


def others_of(ledger: Ledger, number: PublishedNumber, *, deterministic: bool = False) -> Others:
    """Returns the ledger's evidence on a published number; the value itself, quotations and doubtful
    numbers are excluded. deterministic: no seed changes the score of its system.
    """
    by = ledger.reported_by(number.paper, number.work)
    found = _studies_of(ledger, number, by) if number.measurable else nothing_known()
    sd = known_sd(ledger, number.row, number.column) if number.measurable else None
    return replace(
        found,
        by=by,
        system=ledger.plain(number.row),
        sd=EXACT if deterministic else sd,
        planned=backbone_sd(ledger, number.backbone, number.column) if number.measurable else None,
        listed=_listed(ledger, number),
    )


def _listed(ledger: Ledger, number: PublishedNumber) -> Listed | None:
    """Returns the study that reads its single runs from the number's own row, if the number is one of them or
    their mean."""
    for study in ledger.of(number.row):
        cell = study.reported
        if cell is None or cell.table != number.table or (cell.row or study.system) != number.row:
            continue
        for column, runs in cell.columns.items() if isinstance(cell.columns, dict) else ():
            is_mean = len(number.averaged) > 1 and set(number.averaged) == set(runs)
            if len(runs) > 1 and (is_mean or number.column in runs):
                return Listed(study, column, is_mean)
    return None


def _studies_of(ledger: Ledger, number: PublishedNumber, by: str) -> Others:
    counted: dict[Relation, list[Study]] = {relation: [] for relation in RELATIONS}
    uncounted = []
    for study in ledger.of(number.row):
        if number.column not in study.scores or _is_the_report(ledger, study, number, by):
            continue
        if study.not_counted_in(number.column):
            uncounted.append(study)
        else:
            counted[relation_of(ledger, study, by)].append(study)
    return Others(
        {relation: pool_of(ledger, studies, number.column) for relation, studies in counted.items()},
        tuple(uncounted),
        ledger.searched(number.row),
    )


def relation_of(ledger: Ledger, study: Study, by: str) -> Relation:
    """Returns the relation of a study to a number that `by` published."""
    if study.kind == "checkpoint":
        return "checkpoint"
    if study.kind == "other-recipe":
        return "other recipe"
    return "same authors" if ledger.measured_by(study) == by else "independent"


def pool_of(ledger: Ledger, studies: Iterable[Study], column: str) -> StudyPool:
    """Returns the pool of studies of a column: single runs, and one value per measurer."""
    chosen = tuple(studies)
    runs: dict[str, tuple[float, ...]] = {}
    parts: dict[str, list[tuple[float, int]]] = {}
    for study in chosen:
        by, score = ledger.measured_by(study), study.scores[column]
        values = runs_of(score)
        if values:
            runs[by] = runs.get(by, ()) + tuple(values)
        weighted = [(value, 1) for value in values]
        if isinstance(score, Summary) and score.middle is not None:
            weighted.append((score.middle, score.n or 1))
        if weighted:
            parts.setdefault(by, []).extend(weighted)
    sources = {
        by: sum(value * count for value, count in counted) / sum(count for _, count in counted)
        for by, counted in parts.items()
    }
    competitors = {
        by: tuple(study for study in chosen if ledger.measured_by(study) == by)
        for by in sources
        if by in ledger.scope.groups
    }
    counts = {by: sum(count for _, count in counted) for by, counted in parts.items()}
    return StudyPool(chosen, runs, sources, competitors, counts)


def known_sd(ledger: Ledger, system: str, column: str) -> statistics.KnownSd | None:
    """Returns the standard deviation between the seeds of a system in its largest independent study.

    Only a study of `SMALL_SAMPLE` seeds or more counts.
    """
    return _largest_sd(ledger.of(system), column)


def backbone_sd(ledger: Ledger, backbone: str, column: str) -> statistics.KnownSd | None:
    """Returns the standard deviation of the largest study of any system on a backbone, as in `known_sd`.

    It plans seeds of a system with few runs, and few sources are held to it if it is wider than their own.
    """
    return _largest_sd(ledger.on(backbone), column)


def _largest_sd(studies: Iterable[Study], column: str) -> statistics.KnownSd | None:
    lists = [
        runs_of(study.scores[column])
        for study in studies
        if column in study.scores and study.kind == "re-run" and not study.not_counted_in(column)
    ]
    largest = max(lists, key=len, default=[])
    sd = statistics.sample_sd(largest)
    if sd is None or len(largest) < statistics.SMALL_SAMPLE:
        return None
    return statistics.KnownSd(sd, len(largest))


def _is_the_report(ledger: Ledger, study: Study, number: PublishedNumber, by: str) -> bool:
    """Returns whether a study is the published number itself: its cell, or its authors' same single run."""
    cell = study.reported
    if cell is not None and cell.table == number.table and (cell.row or study.system) == number.row:
        return isinstance(cell.columns, list)
    score = study.scores[number.column]
    value = score.mean if isinstance(score, Summary) else score
    return (
        study.kind == "re-run"
        and ledger.measured_by(study) == by
        and isinstance(value, float)
        and abs(value - number.value) <= number.rounding
    )
