"""Sources of a page's evidence: every study of one of its systems, with link and values."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.evidence import statistics
from harness.evidence.judged import Judged
from harness.evidence.others import Others, Relation
from harness.evidence.settling import counted
from harness.evidence.studies import Score, Study, Summary
from harness.report.runs import slug
from harness.report.tables.model import Table, TableRow, judged_numbers, row_label

EVIDENCE_KINDS = {
    "independent": "others trained it by the published recipe, or evaluated an untrained encoder; this "
    "kind alone decides what others find",
    "same authors": "those who reported the number measured it again",
    "checkpoint": "others scored released weights: this checks the evaluation, not the training",
    "other recipe": "others trained it with different settings",
    "not counted": "quoted, doubtful, or measured a second time by the same people",
}
"""Explanation of each kind of source."""
EVIDENCE = "pages/evidence.html"
"""The page of all sources, as seen from the main page."""


@dataclass(frozen=True)
class SystemSources:
    """The studies of one reported system. name: its display name. columns: with a study. studies: each
    with its kind. known: the number in the heading.
    """

    name: str
    columns: list[str]
    studies: list[tuple[Study, str]]
    known: Judged

    @property
    def counts(self) -> str:
        """Numbers of sources and studies of each kind, for the number of the verdict."""
        others = self.known.others
        parts = [
            counted(len(pool.sources), "source" if kind in OF_KIND else f"{kind} source")
            + OF_KIND.get(kind, "")
            + (f" ({counted(len(pool.studies), 'record')})" if len(pool.studies) > len(pool.sources) else "")
            for kind, pool in others.pools.items()
            if pool.sources
        ]
        return ", ".join([*parts, f"{len(others.uncounted)} not counted"] if others.uncounted else parts)


OF_KIND: dict[Relation, str] = {
    "same authors": " of its authors",
    "checkpoint": " of a checkpoint",
    "other recipe": " of another recipe",
}
"""What sources that are not independent are of."""


def anchor_of(system: str) -> str:
    """Returns the id of the section of a system's sources."""
    return f"evidence-{slug(system)}"


def system_sources(tables: Iterable[Table]) -> list[SystemSources]:
    """Returns the studies behind the tables' numbers by system: those with most independent sources first,
    then those with most studies.

    The heading of a system shows an average with many sources, if there is one.
    """
    numbers: dict[str, list[tuple[TableRow, Judged]]] = {}
    for _, row, known in judged_numbers(tables):
        numbers.setdefault(known.number.row, []).append((row, known))
    sections = []
    for rows in numbers.values():
        columns: dict[str, None] = {}
        studies: dict[int, tuple[Study, str]] = {}
        for _, known in rows:
            for study, kind in _kinds(known.others):
                columns[known.number.column] = None
                studies.setdefault(id(study), (study, kind))
        if studies:
            shown = sorted(columns, key=lambda column: column != "Avg")
            headline = max(
                (known for _, known in rows),
                key=lambda candidate: (
                    candidate.number.column == "Avg",
                    len(candidate.others.independent.sources),
                ),
            )
            sections.append(SystemSources(row_label(rows[0][0]), shown, list(studies.values()), headline))
    return sorted(
        sections,
        key=lambda system: (len(system.known.others.independent.sources), len(system.studies)),
        reverse=True,
    )


def _kinds(others: Others) -> Iterator[tuple[Study, str]]:
    """Yields the studies with their relation to the number, uncounted ones last."""
    for kind, pool in others.pools.items():
        rivals = [study for studies in pool.competitors.values() for study in studies]
        marked = f"{kind}, authors of a competing method" if kind == "independent" else kind
        yield from ((study, marked if study in rivals else kind) for study in pool.studies)
    yield from ((study, "not counted") for study in others.uncounted)


def score_words(score: Score) -> str:
    """Describes a study's values of one column: runs, a mean with standard deviation, or a range."""
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
