"""The small plans in the form of a paper's main table: methods by kind, one column a test set."""

from __future__ import annotations

from typing import Any

from harness.report.pages.content import Report
from harness.report.pages.declared import Page
from harness.report.pages.index import checked
from harness.report.pages.paper import command_of
from harness.report.tables.leaderboard import has_values
from harness.report.tables.model import Table


def small_values(report: Report) -> dict[str, Any] | None:
    """Returns what the page shows; None where no such table is declared. Errors: as `checked`."""
    return tables_of_page(report, report.small_tables, "small")


def tables_of_page(report: Report, tables: tuple[Table, ...], kind: str) -> dict[str, Any] | None:
    """Returns what a page of tables shows. kind: `small` or `own`, which the heading depends on."""
    if not tables:
        return None
    return {
        "report": checked(report, tables),
        "kind": kind,
        "filled": [table for table in tables if has_values(table)],
        "empty": [table for table in tables if not has_values(table)],
        "commands": {table.key: command_of(_plan_of(table.key)) for table in tables},
    }


def _plan_of(key: str) -> str:
    """Returns the plan that fills a table: `small` for `small-sts`, else the plan of the table's name."""
    return "small" if key == "small-sts" else key


PAGE = Page("Small plans", "pages/small.html", "small.html.j2", small_values, order=2)
