"""Which number to cite for a baseline: the reported, the independent or ours, with its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.facts import statistics
from harness.facts.published import Published
from harness.facts.statistics import Interval, mean_interval
from harness.facts.verdicts import FEW_SOURCES, LOOKS
from harness.report.formats.citation import Work, paper_entry, work_entry
from harness.report.tables.model import Table, verifications
from harness.report.verification import Verification


@dataclass(frozen=True)
class Value:
    """A value in points with its 95 % interval, None where there is none, and how it was obtained."""

    kind: str
    value: float
    interval: Interval | None
    how: str

    def __str__(self) -> str:
        reach = "" if self.interval is None else f" ({self.interval.low:.2f} to {self.interval.high:.2f})"
        return f"{self.value:.2f}{reach}, {self.how}"


@dataclass(frozen=True)
class Advice:
    """What to cite for one reported number. values: all that are known, the recommended one among them."""

    found: Verification
    recommended: Value
    values: tuple[Value, ...]
    why: str
    bibtex: str


def advice_on(found: Verification, bibtex: str) -> Advice:
    """Returns the value to cite: ours after the first look, else that of FEW_SOURCES independent sources or
    more, else the reported one. A reported number stays if it replicates or independent runs agree. Without
    random draws one run of ours is enough.
    """
    reported = found.reported
    runs = {None: "number of runs not stated", 1: "one run"}.get(
        reported.seeds, f"mean of {reported.seeds} runs"
    )
    stated = Value("reported", reported.value, None, f"reported by {reported.by} ({runs})")
    sources = found.others.independent.sources
    independent = _mean("independent", tuple(sources.values()), f"mean of {len(sources)} independent sources")
    ours = _mean("ours", found.values, f"mean of {len(found.values)} runs of this project")
    values = tuple(value for value in (stated, independent, ours) if value is not None)
    settled = found.ours is not None and found.ours.verdict != "inconclusive"
    if found.verdict in ("replicates", "independent runs agree"):
        return Advice(found, stated, values, f"verdict: {found.verdict}", bibtex)
    if ours is not None and (settled or len(found.values) >= LOOKS[0]):
        return Advice(found, ours, values, f"verdict on the reported number: {found.verdict}", bibtex)
    if independent is not None and len(sources) >= FEW_SOURCES:
        return Advice(found, independent, values, f"verdict: {found.verdict}", bibtex)
    return Advice(found, stated, values, f"nothing better is known: {found.verdict}", bibtex)


def _mean(kind: str, values: tuple[float, ...], how: str) -> Value | None:
    if not values:
        return None
    return Value(kind, statistics.mean(values), mean_interval(values, 0.95), how)


def advice_for(
    tables: Iterable[Table],
    published: Published,
    works: Mapping[str, Work],
    *,
    system: str,
    backbone: str,
    column: str,
) -> list[Advice]:
    """Returns the advice on every distinct number that is reported of a system; none where no table has it.

    Of cells that quote one number, the one with most of our runs speaks; the number with most cells comes
    first. Names are compared without case.
    """
    facts: dict[tuple[str, str, float], Verification] = {}
    quoted: Counter[tuple[str, str, float]] = Counter()
    wanted = f"{system}@{backbone}".lower()
    for _, _, known in verifications(tables):
        reported = known.reported
        if (reported.system or reported.row).lower() == wanted and reported.column.lower() == column.lower():
            quoted[reported.fact] += 1
            best = facts.setdefault(reported.fact, known)
            if len(known.values) > len(best.values):
                facts[reported.fact] = known
    return [
        advice_on(facts[fact], _bibtex(facts[fact], published, works)) for fact, _ in quoted.most_common()
    ]


def _bibtex(found: Verification, published: Published, works: Mapping[str, Work]) -> str:
    """Returns the entry of the paper that reported the number, or of the work that it quotes."""
    paper = published.papers[found.reported.table.split("/")[0]]
    work = published.row(found.reported.table, found.reported.row).work
    if work is not None and work in works:
        return work_entry(work, works[work])
    return paper_entry(paper)


def to_text(advice: Advice, project: str) -> str:
    """Returns the advice as lines for a terminal; project: the entry of this project."""
    reported = advice.found.reported
    lines = [
        f"{reported.system or reported.row}  {reported.column} in points, as in {reported.table}",
        f"cite        {advice.recommended}",
        f"because     {advice.why}",
        *(f"{value.kind:<11} {value}" for value in advice.values),
    ]
    return "\n".join(
        [*lines, "", advice.bibtex, *([project] if advice.recommended.kind != "reported" else [])]
    )
