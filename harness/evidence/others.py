"""Independent evidence on one published number, separate by kind."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from harness.evidence import statistics
from harness.evidence.ledger import Ledger
from harness.evidence.number_tests import Origin, origin_of
from harness.evidence.published import Published, PublishedTable
from harness.evidence.studies import COLUMNS, Study, Summary, runs_of
from harness.evidence.verdicts import Sources

Relation = Literal["independent", "same authors", "checkpoint", "other recipe"]
"""Relation of a study to a reported number: independent training by its recipe, a second measurement by
its authors, released weights, or training by another recipe. Relations are not pooled."""

RELATIONS: tuple[Relation, ...] = ("independent", "same authors", "checkpoint", "other recipe")
EXACT = statistics.KnownSd(0.0, 0)
"""The standard deviation of a deterministic system."""
SEVEN = 7
"""Test sets in the `Avg` of a study; an average of others is another quantity."""


@dataclass(frozen=True)
class ReportedNumber:
    """One published number in points.

    by: its authors; source: the paper, or the quoted work, in words. seeds: number of averaged runs, picked:
    number of runs it was chosen from, None if not stated; rounding: half a reported digit. quantity: the
    metric, and of a mean the number of its parts, in words.
    system: its row's system and backbone under their first name, shared by tables that quote it. measurable:
    whether a study can have measured the same quantity. False for another metric, or if `Avg` is not the mean
    of the seven sets.
    """

    table: str
    row: str
    column: str
    value: float
    by: str
    seeds: int | None
    rounding: float
    system: str = ""
    picked: int | None = None
    source: str = ""
    quantity: str = ""
    measurable: bool = True

    @property
    def origin(self) -> Origin:
        """Origin of the number, for the prediction interval."""
        return origin_of(self.seeds, self.picked)

    @property
    def stated(self) -> Origin:
        """The stated number of runs, otherwise 1; for texts."""
        return Origin(self.seeds or 1, self.picked or 1)

    @property
    def fact(self) -> tuple[str, str, float]:
        """Key of the reported number, equal in all tables that quote it."""
        return self.system or self.row, self.column, round(self.value, 4)


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
class Others:
    """Evidence on a reported number besides our runs; `searched` as in `Ledger.searched`."""

    pools: Mapping[Relation, StudyPool]
    uncounted: tuple[Study, ...]
    searched: bool

    @property
    def studies(self) -> tuple[Study, ...]:
        """The counted studies of every relation."""
        return tuple(study for pool in self.pools.values() for study in pool.studies)

    @property
    def independent(self) -> StudyPool:
        """Runs by others that follow the recipe."""
        return self.pools["independent"]


@dataclass(frozen=True)
class KnownNumber:
    """A published number with all that is known of it without our runs.

    sd: the standard deviation of its system that needs no seeds of ours, n = 0 for a deterministic one;
    planned: the one for planning seeds without other data. None if it was not measured.
    """

    reported: ReportedNumber
    others: Others
    sd: statistics.KnownSd | None
    planned: statistics.KnownSd | None


def known_number(
    published: Published, ledger: Ledger, *, table: str, row: str, column: str, deterministic: bool
) -> KnownNumber | None:
    """Returns a published cell with the evidence of others, None for an empty cell.

    Errors: as of `reported_number`.
    """
    reported = reported_number(published, ledger, table=table, row=row, column=column)
    if reported is None:
        return None
    sd = planned = None
    if reported.measurable:
        sd = known_sd(ledger, row, column)
        planned = backbone_sd(ledger, row.partition("@")[2], column)
    return KnownNumber(reported, others_of(ledger, reported), EXACT if deterministic else sd, planned)


def nothing_known() -> Others:
    """Returns the evidence for a number that no study could have measured."""
    return Others(dict.fromkeys(RELATIONS, StudyPool((), {}, {})), (), searched=False)


def reported_number(
    published: Published, ledger: Ledger, *, table: str, row: str, column: str
) -> ReportedNumber | None:
    """Returns a published cell of any metric in points, None for an empty cell. Errors: InputError for an
    unknown table or row.
    """
    declared, line = published.table(table), published.row(table, row)
    value = declared.compared(line, column) if column in declared.columns else None
    if value is None:
        return None
    return ReportedNumber(
        table=table,
        row=row,
        column=column,
        value=round(value * declared.points, 4),
        by=ledger.reported_by(table.split("/")[0], line.work),
        seeds=line.seeds,
        rounding=0.5 * 10.0 ** -declared.decimals_of(line) * declared.points,
        system=ledger.plain(row),
        picked=line.picked,
        source=published.source(table, line),
        quantity=quantity_of(declared, column),
        measurable=(
            declared.metric in (COLUMNS.get(column), "mixed")
            and column in COLUMNS
            and (column != "Avg" or len(declared.averages.get("Avg", range(SEVEN))) == SEVEN)
        ),
    )


def quantity_of(table: PublishedTable, column: str) -> str:
    """Returns the quantity of a column, such as `spearman, mean of 7`; other averages are different."""
    parts = table.averages.get(column, ())
    words = ["" if table.metric == "mixed" else table.metric, f"mean of {len(parts)}" if parts else ""]
    return ", ".join(filter(None, words))


def others_of(ledger: Ledger, reported: ReportedNumber) -> Others:
    """Returns the ledger's evidence on a reported number; the reported value itself, quotations, doubtful
    numbers and unconverged runs are excluded.
    """
    if not reported.measurable:
        return nothing_known()
    counted: dict[Relation, list[Study]] = {relation: [] for relation in RELATIONS}
    uncounted = []
    for study in ledger.of(reported.row):
        if reported.column not in study.scores or _is_the_report(ledger, study, reported):
            continue
        if study.not_counted_in(reported.column) or reported.column in study.repeats:
            uncounted.append(study)
        else:
            counted[relation_of(ledger, study, reported)].append(study)
    return Others(
        {relation: pool(ledger, studies, reported.column) for relation, studies in counted.items()},
        tuple(uncounted),
        ledger.searched(reported.row),
    )


def relation_of(ledger: Ledger, study: Study, reported: ReportedNumber) -> Relation:
    """Returns the relation of a study to a reported number."""
    if study.kind == "checkpoint":
        return "checkpoint"
    if study.kind == "other-recipe":
        return "other recipe"
    return "same authors" if ledger.measured_by(study) == reported.by else "independent"


def pool(ledger: Ledger, studies: Iterable[Study], column: str) -> StudyPool:
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

    Only a study of `SMALL_SAMPLE` seeds or more counts, and only one that is not marked as unconverged.
    """
    return _largest_sd(ledger.of(system), column)


def backbone_sd(ledger: Ledger, backbone: str, column: str) -> statistics.KnownSd | None:
    """Returns the standard deviation of the largest study of any system on a backbone, as in `known_sd`.

    It is used only to plan seeds of a system with few runs, never to judge another system's scores.
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


def _is_the_report(ledger: Ledger, study: Study, reported: ReportedNumber) -> bool:
    """Returns whether a study is the reported number itself: its cell, or its authors' same single run."""
    reported_cell = study.reported
    if (
        reported_cell is not None
        and reported_cell.table == reported.table
        and (reported_cell.row or study.system) == reported.row
    ):
        return isinstance(reported_cell.columns, list)
    score = study.scores[reported.column]
    value = score.mean if isinstance(score, Summary) else score
    return (
        study.kind == "re-run"
        and ledger.measured_by(study) == reported.by
        and isinstance(value, float)
        and abs(value - reported.value) <= reported.rounding
    )
