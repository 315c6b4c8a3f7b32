"""The main page: leaderboards, figures of the training, the papers with their tallies, every run's record."""

from __future__ import annotations

from typing import Any

from harness.report.charts.comparisons import costs_of, ranks_of, years_of
from harness.report.charts.training import geometry_figure, learning_curves
from harness.report.pages.anchors import anchors_of
from harness.report.pages.answers import address_of, answer_values, answers_of
from harness.report.pages.content import Report
from harness.report.pages.declared import MAIN, Page
from harness.report.pages.runs import FILE, has_own_page
from harness.report.tables.leaderboard import has_values
from harness.report.tables.model import row_label


def index_values(report: Report) -> dict[str, Any]:
    """Returns what the main page shows. Errors: as `draw`."""
    reported = [table for paper in report.papers for table in paper.tables]
    apart = has_own_page(report)
    return {
        **answer_values(report, reported),
        "figures": [
            *filter(None, [years_of(report.papers), costs_of(report.papers)]),
            *filter(None, [ranks_of(table) for table in report.tables[:1]]),
            *([] if apart else learning_curves(report.runs.values())),
            *geometry_figure(report.results),
        ],
        "records_at": FILE if apart else "",
        "entries": search_entries(report),
    }


def search_entries(report: Report) -> list[tuple[str, str, str]]:
    """Returns what can be searched for: kind, name, and its address as seen from the main page.

    A system is found once in each table that has a row of it.
    """
    found = [
        ("number", f"{answer.name} {answer.reported}", f"#{answer.anchor}") for answer in answers_of(report)
    ]
    found += [("paper", paper.title, paper.file) for paper in report.papers]
    for table in report.all_tables.values():
        address, _, anchor = address_of(report, table).partition("#")
        found.append((table.kind, table.title, f"{address}#{anchor}"))
        if table in (*report.small_tables, *report.own_tables) and not has_values(table):
            continue  # its page names it and shows no row
        for row, place in zip(table.rows, anchors_of(table).rows, strict=True):
            found.append((table.title.partition(":")[0], row_label(row), f"{address}#{place}"))
    return found


PAGE = Page("Overview", MAIN, "index.html.j2", index_values, order=0)
