"""BibTeX of the papers and of a report."""

import re

from harness.evidence.printed import PublishedPaper

BIBTEX_SPECIAL = re.compile(r"[&%$#_{}\\~^]")
ESCAPED = {"\\": r"{\textbackslash}", "~": r"{\textasciitilde}", "^": r"{\textasciicircum}"}
"""Characters that a backslash cannot escape, with their TeX commands."""
REPORT_TITLE = "sentbench: a reproducibility benchmark for unsupervised sentence embeddings"


def paper_entry(paper: PublishedPaper) -> str:
    """Returns the entry of a paper under its key with its year, without unknown fields."""
    fields = {
        "title": paper.title,
        "author": " and ".join(paper.authors),
        "year": "" if paper.year is None else str(paper.year),
        "url": paper.link,
        "note": paper.venue,
    }
    return entry(f"{paper.paper}{paper.year or ''}", fields)


def report_entry(version: str, results: str = "", code: str = "") -> str:
    """Returns the entry of a report of a version, with the fingerprints of its results and its code if
    given."""
    note = f"Report of version {version}"
    note += f", results {results}, code {code}" if results else ""
    return entry(f"sentbench-{results or version}", {"title": REPORT_TITLE, "note": note})


def entry(key: str, fields: dict[str, str]) -> str:
    """Returns one @misc entry of the fields with a value; TeX commands are escaped."""
    lines = [f"  {name} = {{{_escape(name, value)}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def _escape(name: str, value: str) -> str:
    if name == "url":
        return value
    escaped = BIBTEX_SPECIAL.sub(lambda match: ESCAPED.get(match[0], f"\\{match[0]}"), value)
    return f"{{{escaped}}}" if name == "title" else escaped  # braces preserve capitals
