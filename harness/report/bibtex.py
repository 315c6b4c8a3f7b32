"""BibTeX of the papers and of a report."""

import re

from harness.evidence.published import PublishedPaper

SPECIAL = re.compile(r"[&%$#_{}\\~^]")
ESCAPED = {"\\": r"{\textbackslash}", "~": r"{\textasciitilde}", "^": r"{\textasciicircum}"}
"""Characters that a backslash cannot escape, with their TeX commands."""
NAME = "sentbench: a reproducibility benchmark for unsupervised sentence embeddings"


def paper_entry(paper: PublishedPaper) -> str:
    """Returns the entry of a paper under its key with its year; a field that is not known is left out."""
    fields = {
        "title": paper.title,
        "author": " and ".join(paper.authors),
        "year": "" if paper.year is None else str(paper.year),
        "url": paper.link,
        "note": paper.venue,
    }
    return entry(f"{paper.paper}{paper.year or ''}", fields)


def report_entry(code: str) -> str:
    """Returns the entry of the report that the code of this fingerprint made."""
    return entry(f"sentbench-{code[:10]}", {"title": NAME, "note": f"Report of code {code}"})


def entry(key: str, fields: dict[str, str]) -> str:
    """Returns one @misc entry of the fields that have a value; what TeX reads as a command is escaped."""
    lines = [f"  {name} = {{{_escape(name, value)}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def _escape(name: str, value: str) -> str:
    if name == "url":
        return value
    escaped = SPECIAL.sub(lambda found: ESCAPED.get(found[0], f"\\{found[0]}"), value)
    return f"{{{escaped}}}" if name == "title" else escaped  # braces keep its capitals
