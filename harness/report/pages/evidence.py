"""The page of evidence: every independent record behind a verdict."""

from collections.abc import Sequence
from typing import Any

from harness.evidence.settling import counted
from harness.report.pages.content import Page, Report
from harness.report.pages.first_screen import counted_verdicts
from harness.report.pages.sources import EVIDENCE, SystemSources, system_sources


def evidence_values(report: Report) -> dict[str, Any] | None:
    """Returns the content of the page; None without independent measurements."""
    systems = system_sources(report.all_tables.values())
    return {"systems": systems, "conclusion": evidence_conclusion(systems)} if systems else None


def evidence_conclusion(systems: Sequence[SystemSources]) -> str:
    """Returns the number of systems that others trained again, and the verdicts on the numbers in the
    headings.
    """
    known = [system.known for system in systems]
    again = sum(bool(judged.others.independent.sources) for judged in known)
    verdicts = "; ".join(counted_verdicts(known))
    sources = {study.source for system in systems for study, _ in system.studies}
    return (
        f"Others trained {again} of {counted(len(systems), 'system')} again by the published recipe. "
        f"Of the numbers in the headings below, {verdicts}. "
        f"The records come from {counted(len(sources), 'source')}."
    )


PAGE = Page("Evidence", EVIDENCE, "evidence.html.j2", evidence_values, order=3)
