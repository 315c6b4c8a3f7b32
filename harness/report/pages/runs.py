"""The records of all runs on a page of their own, where the overview would grow too large with them."""

from __future__ import annotations

from typing import Any

from harness.report.figures import learning_curves
from harness.report.pages.content import Page, Report

FILE = "pages/runs.html"
MANY = 150
"""The most runs whose records appear on the overview, next to the cells that they fill."""


def has_own_page(report: Report) -> bool:
    """Returns whether the records of the runs appear on a page of their own."""
    return len(report.runs) > MANY


def runs_values(report: Report) -> dict[str, Any] | None:
    """Returns what the page shows; None where the records appear on the overview."""
    return {"figures": learning_curves(report.runs.values())} if has_own_page(report) else None


PAGE = Page("Runs", FILE, "runs.html.j2", runs_values, order=5, group="Systems")
