"""Which number to cite for a baseline, the reported, the independent or ours, with its interval; BibTeX."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import Field

from harness.declarations import Declaration
from harness.facts import statistics
from harness.facts.number_tests import LOOKS
from harness.facts.published import Published, PublishedPaper
from harness.facts.statistics import Interval, mean_interval
from harness.facts.verdicts import FEW_SOURCES
from harness.report.tables.model import Table, verifications
from harness.report.verification import Verification

WORKS = "works.yaml"
"""Of leaderboards: the works that papers quote numbers from."""
SPECIAL = re.compile(r"[&%$#_{}\\~^]")
ESCAPED = {"\\": r"{\textbackslash}", "~": r"{\textasciitilde}", "^": r"{\textasciicircum}"}
"""What a backslash before the character would not print."""
NAME = "sentbench: a reproducibility benchmark for unsupervised sentence embeddings"
RELEASED = "2026-11-23"
"""When this version was released, as in CITATION.cff, which the wheel does not include."""


class Work(Declaration):
    """What a bibliography needs of a work that a paper quotes."""

    title: str
    authors: list[str] = Field(default_factory=list)
    venue: str = ""
    year: int | None = None
    link: str = ""


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
    chosen, why = stated, "nothing better is known"
    if found.verdict in ("replicates", "independent runs agree"):
        why = "verdict"
    elif ours is not None and (settled or len(found.values) >= LOOKS[0]):
        chosen, why = ours, "verdict on the reported number"
    elif independent is not None and len(sources) >= FEW_SOURCES:
        chosen, why = independent, "verdict"
    return Advice(found, chosen, values, f"{why}: {found.verdict}", bibtex)


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
    work = published.row(found.reported.table, found.reported.row).work
    if work is not None and work in works:
        return work_entry(work, works[work])
    return paper_entry(published.papers[found.reported.table.split("/")[0]])


def to_text(advice: Advice, project: str) -> str:
    """Returns the advice as lines for a terminal; project: the entry of this project."""
    reported = advice.found.reported
    lines = [
        f"{reported.system or reported.row}  {reported.column} in points, as in {reported.table}",
        f"cite        {advice.recommended}",
        f"because     {advice.why}",
        *(f"{value.kind:<11} {value}" for value in advice.values),
    ]
    ours = [] if advice.recommended.kind == "reported" else [project]
    return "\n".join([*lines, "", advice.bibtex, *ours])


def paper_entry(paper: PublishedPaper) -> str:
    """Returns the entry of a paper under its key with its year."""
    return work_entry(f"{paper.paper}{paper.year or ''}", paper)


def work_entry(key: str, work: Work | PublishedPaper) -> str:
    """Returns the entry of a work; a field that is not known is left out."""
    fields = {
        "title": work.title,
        "author": " and ".join(work.authors),
        "year": "" if work.year is None else str(work.year),
        "url": work.link,
        "note": work.venue,
    }
    return entry(key, fields)


def report_entry(code: str) -> str:
    """Returns the entry of the report that the code of this fingerprint made."""
    return entry(f"sentbench-{code[:10]}", {"title": NAME, "note": f"Report of code {code}"})


def project_entry() -> str:
    """Returns the entry of this project, by its version and the date of CITATION.cff."""
    from importlib.metadata import version

    fields = {
        "title": NAME,
        "author": "The sentbench contributors",
        "year": RELEASED[:4],
        "note": f"Version {version('sentbench')}, {RELEASED}",
    }
    return entry("sentbench", fields)


def entry(key: str, fields: dict[str, str]) -> str:
    """Returns one @misc entry of the fields that have a value; what TeX reads as a command is escaped."""
    lines = [f"  {name} = {{{_escape(name, value)}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def _escape(name: str, value: str) -> str:
    if name == "url":
        return value
    escaped = SPECIAL.sub(lambda found: ESCAPED.get(found[0], f"\\{found[0]}"), value)
    return f"{{{escaped}}}" if name == "title" else escaped  # braces keep its capitals
