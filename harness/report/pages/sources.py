"""Where the evidence of a page stands: every study that measured one of its systems, with link and values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.facts import statistics
from harness.facts.evidence.ledger import Score, Study, Summary
from harness.facts.evidence.others import Others
from harness.report.runs import slug
from harness.report.tables.model import Table, row_label, verifications
from harness.report.verification import Verification, counted

KINDS = {
    "independent": "others trained it by the published recipe; this kind alone decides what others find",
    "same authors": "those who reported the number measured it again",
    "checkpoint": "others scored released weights: this checks the evaluation, not the training",
    "other recipe": "others trained it with different settings",
    "not counted": "quoted, doubtful, or measured a second time by the same people",
}
"""What each kind of a source means."""


@dataclass(frozen=True)
class Source:
    """One study of a system. values: what it says of each column that a table of the page prints."""

    study: Study
    kind: str
    values: dict[str, str]


@dataclass(frozen=True)
class SystemSources:
    """The studies of one reported system: the published key of its row, and what the page calls it."""

    system: str
    name: str
    columns: tuple[str, ...]
    sources: tuple[Source, ...]
    known: Verification

    @property
    def counts(self) -> str:
        """How many sources and studies there are of each kind, for the number that the verdict is of."""
        others = self.known.others
        parts = [
            f"{counted(len(pool.sources), f'{kind} source')}"
            + (f" ({counted(len(pool.studies), 'record')})" if len(pool.studies) > len(pool.sources) else "")
            for kind, pool in others.pools.items()
            if pool.sources
        ]
        return ", ".join([*parts, f"{len(others.uncounted)} not counted"] if others.uncounted else parts)


def anchor_of(system: str) -> str:
    """Returns the id of the section of a system's sources."""
    return f"evidence-{slug(system)}"


def sources_of(tables: Iterable[Table]) -> list[SystemSources]:
    """Returns the studies behind the tables' numbers by system, in the order of the tables."""
    names: dict[str, str] = {}
    columns: dict[str, dict[str, None]] = {}
    studies: dict[str, dict[int, tuple[Study, str]]] = {}
    judged: dict[str, Verification] = {}
    for _, row, known in verifications(tables):
        system, column = known.reported.row, known.reported.column
        names.setdefault(system, row_label(row))
        judged[system] = max(judged.get(system, known), known, key=_weight)
        for study, kind in _kinds(known.others):
            columns.setdefault(system, {})[column] = None
            studies.setdefault(system, {}).setdefault(id(study), (study, kind))
    return [
        SystemSources(
            system,
            names[system],
            tuple(shown := sorted(columns[system], key=lambda column: column != "Avg")),
            tuple(Source(study, kind, _values(study, shown)) for study, kind in found.values()),
            judged[system],
        )
        for system, found in studies.items()
    ]


def _weight(known: Verification) -> tuple[bool, int]:
    """Returns by what the number is chosen that a system's heading tells: an average of many sources."""
    return known.reported.column == "Avg", len(known.others.independent.sources)


def _kinds(others: Others) -> Iterable[tuple[Study, str]]:
    """Yields the studies with how they stand to the number, those that do not count last."""
    for kind, pool in others.pools.items():
        rivals = [study for studies in pool.competitors.values() for study in studies]
        marked = f"{kind}, authors of a competing method" if kind == "independent" else kind
        yield from ((study, marked if study in rivals else kind) for study in pool.studies)
    yield from ((study, "not counted") for study in others.uncounted)


def _values(study: Study, columns: Iterable[str]) -> dict[str, str]:
    return {column: score_words(study.scores[column]) for column in columns if column in study.scores}


def score_words(score: Score) -> str:
    """Returns what a study says of one column in words: a run, runs, a mean with its standard deviation, or a
    range.
    """
    if isinstance(score, Summary):
        if score.n is None:
            return f"{score.low:.2f} to {score.high:.2f}"
        mean = "" if score.mean is None else f"{score.mean:.2f}"
        spread = "" if score.sd is None else f"± {score.sd:.2f}"
        return f"{mean} {spread} ({counted(score.n, 'run')})".strip()
    if isinstance(score, list):
        low, high = min(score), max(score)
        return f"{statistics.mean(score):.2f} ({len(score)} runs, {low:.2f} to {high:.2f})"
    return f"{score:.2f}"
