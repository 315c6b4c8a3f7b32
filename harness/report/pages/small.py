"""Pages of tables that are no paper's: the small plans, in the form of a main table, and one's own tables."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.report.pages.content import Page, Report
from harness.report.pages.paper import command_of
from harness.report.tables.leaderboard import has_values


def tables_of_page(report: Report, kind: str) -> dict[str, Any] | None:
    """Returns what a page of tables shows; None without a table.

    kind: `small` or `own`, which the heading depends on.
    """
    tables = report.small_tables if kind == "small" else report.own_tables
    if not tables:
        return None
    return {
        "kind": kind,
        "filled": [table for table in tables if has_values(table)],
        "empty": [table for table in tables if not has_values(table)],
        "commands": {
            table.key: "sentbench plan small && dvc repro" if table.key == "small-sts" else command_of(table)
            for table in tables
        },
    }


def pages(report: Report) -> list[Page]:
    """Returns both pages."""
    return [
        Page(title, f"pages/{kind}.html", "small.html.j2", partial(tables_of_page, kind=kind), order=2)
        for title, kind in (("Own tables", "own"), ("Small plans", "small"))
    ]
