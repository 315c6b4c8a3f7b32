"""Which number to cite: for every reported average that was measured again, by others or by us."""

from __future__ import annotations

from typing import Any

from harness.report.cite import Advice, advice_on
from harness.report.pages.answers import address_of
from harness.report.pages.content import Report
from harness.report.pages.declared import Page


def cite_values(report: Report) -> dict[str, Any] | None:
    """Returns what the page shows; None where nobody measured a reported average again."""
    found: dict[tuple[str, str, float], tuple[str, Advice]] = {}
    for paper in report.papers:
        for table in paper.tables:
            for row in table.rows:
                for cell in row.cells:
                    known = cell.evidence
                    if known is None or known.printed.column != "Avg":
                        continue
                    if known.values or known.others.independent.sources:
                        advice = advice_on(known, "")
                        found.setdefault(known.printed.fact, (address_of(report, table), advice))
    return {"rows": sorted(found.items())} if found else None


PAGE = Page("Cite", "pages/cite.html", "cite.html.j2", cite_values, order=3)
