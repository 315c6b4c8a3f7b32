"""What others ran and contributed: who, how far it was checked here, and what was set aside."""

from typing import Any

from harness.report.pages.content import Page, Report
from harness.report.tables.cells import LEVELS
from harness.results.contributions import Contribution, Level


def contributed_values(report: Report) -> dict[str, Any] | None:
    """Returns what the page shows; None where nothing was contributed."""
    if not report.contributed and not report.set_aside:
        return None
    return {"rows": [(one, checks_of(one)) for one in report.contributed], "set_aside": report.set_aside}


def checks_of(one: Contribution) -> dict[Level, str]:
    """Returns the tasks whose scores were checked how far, in words, what was checked most first."""
    found: dict[Level, list[str]] = {level: [] for level in reversed(LEVELS)}
    for task, selection in dict.fromkeys((score.task, score.selection) for score in one.result.scores):
        found[one.checked.level(task, selection)].append(task)
    return {level: ", ".join(dict.fromkeys(tasks)) for level, tasks in found.items() if tasks}


PAGE = Page("Contributed", "pages/contributed.html", "contributed.html.j2", contributed_values, order=5)
