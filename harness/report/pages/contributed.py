"""What others ran and contributed: who, how far it was checked here, and what was set aside."""

from typing import Any

from harness.report.pages.content import Page, Report
from harness.report.tables.cells import LEVELS
from harness.results.contributions import Level


def contributed_values(report: Report) -> dict[str, Any] | None:
    """Returns what the page shows, of each run the tasks whose scores were checked how far, what was checked
    most first; None where nothing was contributed.
    """
    if not report.contributed and not report.set_aside:
        return None
    rows = []
    for one in report.contributed:
        found: dict[Level, dict[str, None]] = {level: {} for level in reversed(LEVELS)}
        for score in one.result.scores:
            found[one.checked.level(score.task, score.selection)][score.task] = None
        rows.append((one, {level: ", ".join(tasks) for level, tasks in found.items() if tasks}))
    return {"rows": rows, "set_aside": report.set_aside}


PAGE = Page("Contributed", "pages/contributed.html", "contributed.html.j2", contributed_values, order=5)
