"""Two systems side by side: a reader picks them; without a script every one stands against the best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.report import statistics
from harness.report.formats.text import task_title
from harness.report.intervals import student
from harness.report.pages.content import Report
from harness.report.pages.declared import Page
from harness.report.pairing import CONFIDENCE, SystemScores, compare_systems, system_scores

DIGITS = 6
"""Decimals of the scores x 100 that the page carries for its script."""


def compare_values(report: Report) -> dict[str, Any] | None:
    """Returns what the page shows: the best trained system against all others; None with fewer than two."""
    systems = {key: system for key, system in system_scores(report.results).items() if system.tasks}
    if len(systems) < 2:
        return None
    best = reference_of(systems)
    others = [system for system in systems.values() if system is not best]
    return {
        "best": best,
        "tasks": {task: task_title(task) for system in systems.values() for task in system.tasks},
        "rows": [(system, compare_systems(best, system)) for system in others],
        "systems": systems,
        "seeds": seeds_of(systems),
    }


def reference_of(systems: Mapping[str, SystemScores]) -> SystemScores:
    """Returns the system with the best mean over its tasks, a trained one if there is one."""
    trained = [system for system in systems.values() if not system.exact] or list(systems.values())
    most = max(len(system.tasks) for system in trained)
    return max((system for system in trained if len(system.tasks) == most), key=_mean)


def _mean(system: SystemScores) -> float:
    return statistics.mean([statistics.mean(list(seeds.values())) for seeds in system.tasks.values()])


def seeds_of(systems: Mapping[str, SystemScores]) -> dict[str, Any]:
    """Returns what the page's script computes from: scores by seed, and Student's t by number of seeds."""
    most = max((len(seeds) for system in systems.values() for seeds in system.tasks.values()), default=1)
    return {
        "t": {count: student(count - 1, CONFIDENCE) for count in range(2, most + 1)},
        "tasks": {task: task_title(task) for system in systems.values() for task in system.tasks},
        "systems": {
            key: {
                "label": system.label,
                "exact": system.exact,
                "scores": {
                    task: {seed: round(value, DIGITS) for seed, value in seeds.items()}
                    for task, seeds in system.tasks.items()
                },
            }
            for key, system in systems.items()
        },
    }


PAGE = Page("Compare", "pages/compare.html", "compare.html.j2", compare_values, order=2)
