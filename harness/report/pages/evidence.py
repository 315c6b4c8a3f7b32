"""The page of evidence: every independent record behind a verdict."""

from typing import Any

from harness.report.pages.content import Page, Report
from harness.report.pages.sources import EVIDENCE, sources_of


def evidence_values(report: Report) -> dict[str, Any] | None:
    """Returns the content of the page; None without independent measurements."""
    systems = sources_of(report.all_tables.values())
    if not systems:
        return None
    sources = {study.source for system in systems for study, _ in system.studies}
    return {"systems": systems, "sources": len(sources)}


PAGE = Page("Evidence", EVIDENCE, "evidence.html.j2", evidence_values, order=3)
