"""The tables of folders of one's own that belong to no paper."""

from __future__ import annotations

from typing import Any

from harness.report.pages.content import Report
from harness.report.pages.declared import Page
from harness.report.pages.small import tables_of_page


def own_values(report: Report) -> dict[str, Any] | None:
    """Returns what the page of one's own tables shows; None without one. Errors: as `checked`."""
    return tables_of_page(report, report.own_tables, "own")


PAGE = Page("Own tables", "pages/own.html", "small.html.j2", own_values, order=2)
