"""Which number to cite: for every reported average that was measured again, by others or by us."""

from typing import Any

from harness.report.cite import Advice, advice_on
from harness.report.pages.answers import address_of
from harness.report.pages.content import Page, Report
from harness.report.tables.model import verifications


def cite_values(report: Report) -> dict[str, Any] | None:
    """Returns what the page shows; None where nobody measured a reported average again."""
    found: dict[tuple[str, str, float], tuple[str, Advice]] = {}
    for table, _, known in verifications(table for paper in report.papers for table in paper.tables):
        again = known.values or known.others.independent.sources
        if known.reported.column == "Avg" and again:
            found.setdefault(known.reported.fact, (address_of(report, table), advice_on(known, "")))
    return {"rows": sorted(found.items())} if found else None


PAGE = Page("Cite", "pages/cite.html", "cite.html.j2", cite_values, order=3, group="About")
