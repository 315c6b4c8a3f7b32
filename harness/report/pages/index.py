"""The main page: well-known numbers, papers with their tallies, and the way to everything else."""

from typing import Any

from harness.report.pages.content import MAIN, RUNS, Page, Report
from harness.report.pages.first_screen import answer_values


def index_values(report: Report) -> dict[str, Any]:
    """Returns the content of the main page. Errors: as `draw`."""
    reported = [table for paper in report.papers for table in paper.tables]
    return {**answer_values(report, reported), "runs_at": RUNS}


PAGE = Page("Overview", MAIN, "index.html.j2", index_values, order=0)
