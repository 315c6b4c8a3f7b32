"""The page of the plan's tables and runs, and the page of tables from included folders."""

from functools import partial
from typing import Any

from harness.evidence.settling import RUNS_PLAN
from harness.report.pages.content import RUNS, Page, Report
from harness.report.pages.paper import plan_command
from harness.report.pages.plan_figures import figures_of
from harness.report.pages.protocols import protocol_values
from harness.report.tables.leaderboard import has_values


def small_values(report: Report) -> dict[str, Any] | None:
    """Returns the content of the page of runs; None without a table or a run."""
    if not (report.tables or report.runs):
        return None
    return {
        **table_values(report, kind="small"),
        **protocol_values(report),
        "figures": figures_of(report),
    }


def table_values(report: Report, kind: str) -> dict[str, Any]:
    """Returns the tables of a page with the command of each. kind: `small` or `own`, for the heading."""
    tables = report.tables if kind == "small" else report.own_tables
    return {
        "kind": kind,
        "filled": [table for table in tables if has_values(table)],
        "empty": [table for table in tables if not has_values(table)],
        "figures": [],
        "commands": {
            table.key: f"sentbench plan small && {RUNS_PLAN}"
            if table.key == "small-sts"
            else plan_command(table)
            for table in tables
        },
    }


def pages(report: Report) -> list[Page]:
    """Returns both pages; the page of included tables only if there are any."""
    small = Page("Runs", RUNS, "small.html.j2", small_values, order=2)
    own_tables = Page(
        "Own tables", "pages/own.html", "small.html.j2", partial(table_values, kind="own"), order=6
    )
    return [small, *([own_tables] if report.own_tables else [])]
