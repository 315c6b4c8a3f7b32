"""Single pages as text, without a stage around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.report.pages import index
from harness.report.pages.content import Paper, Report
from harness.report.pages.declared import Page
from harness.report.pages.paper import page_of
from harness.report.pages.render import fill_page


def show(page: Page, report: Report, values: Mapping[str, Any] | None = None, **more: Any) -> str:
    """Returns a page; `values` stand for what its own builder would return."""
    shown = page.build(report) if values is None else values
    assert shown is not None
    return fill_page(page, report, shown, **more)


def show_index(report: Report, **more: Any) -> str:
    return show(index.PAGE, report, **more)


def show_paper(report: Report, paper: Paper, **more: Any) -> str:
    return show(page_of(paper), report, **more)
