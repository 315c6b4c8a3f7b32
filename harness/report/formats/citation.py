"""BibTeX: of a paper as its declaration has it, and of a report by the fingerprint of its code."""

from __future__ import annotations

import re

from pydantic import Field

from harness.declarations import Declaration
from harness.facts.published import PublishedPaper

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
