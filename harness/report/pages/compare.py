"""Comparison of two systems chosen by the reader; without a script, all systems against the best."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from harness.evidence import statistics
from harness.evidence.differences import OUTCOMES, Difference
from harness.evidence.settling import counted
from harness.evidence.system_pairs import (
    SystemComparison,
    SystemScores,
    TaskName,
    against_all,
    compare_systems,
    system_scores,
    tally_in_words,
)
from harness.report.chart import Chart, Row, draw
from harness.report.formats.text import task_title
from harness.report.pages.cells import signed
from harness.report.pages.claims import load_claims
from harness.report.pages.content import Page, Report


def compare_values(report: Report) -> dict[str, Any] | None:
    """Returns the content of the page: the best system, if possible a trained one, against all others.
    None with fewer than two. Tasks scored in two ways include the way in their name.
    """
    systems = {key: system for key, system in system_scores(report.results).items() if system.tasks}
    if len(systems) < 2:
        return None
    trained = [system for system in systems.values() if not system.exact] or list(systems.values())
    most = max(len(system.tasks) for system in trained)
    best = max((system for system in trained if len(system.tasks) == most), key=_mean)
    rows = [
        (systems[comparison.second], comparison) for comparison in against_all(best, list(systems.values()))
    ]
    names = {name: task_title(name.task) for system in systems.values() for name in system.tasks}
    often = Counter(names.values())
    titles = {
        name: title if often[title] == 1 else f"{title}, {name.metric} {name.setting}, {name.text} text"
        for name, title in names.items()
    }
    return {
        "best": best,
        "claiming": [paper for paper in report.papers if paper.key in load_claims(report.leaderboards)],
        "conclusion": comparison_conclusion(best, rows),
        "tasks": {name: title for name, title in titles.items() if name in best.tasks},
        "rows": rows,
        "systems": systems,
        "outcomes": OUTCOMES,
        "comparisons": comparisons_of(systems, titles) | jointly_of(best, rows, list(systems)),
    }


def _mean(system: SystemScores) -> float:
    return statistics.mean([statistics.mean(list(seeds.values())) for seeds in system.tasks.values()])


def comparison_conclusion(best: SystemScores, rows: Sequence[tuple[SystemScores, SystemComparison]]) -> str:
    """Returns the numbers of systems whose mean is supported to be lower or higher than the best system's,
    and the largest supported difference with its interval, in points.
    """
    means = [(system, comparison.mean) for system, comparison in rows if comparison.mean]
    counts = Counter(mean.outcome for _, mean in means)
    kind = "untrained" if best.exact else "trained"
    others, won, lost = len(rows), counts["won"], counts["lost"]
    lead = (
        f"{best.label} has the highest mean over {counted(len(best.tasks), 'test set')} of the {kind} "
        f"systems. Of {counted(others, 'other system')}, {won} score lower on average, {lost} score higher, "
        f"and {others - won - lost} cannot be told apart from it."
    )
    decided = [(system, mean) for system, mean in means if mean.outcome in ("won", "lost")]
    supported = [(system, mean, mean.interval) for system, mean in decided if mean.interval]
    if not supported:
        return f"{lead} No difference of means is supported by the runs."
    system, mean, ends = max(supported, key=lambda entry: abs(entry[1].difference))
    low, high = (signed(100 * end, 2) for end in ends)
    return (
        f"{lead} The largest supported difference is {signed(100 * mean.difference, 2)} points "
        f"({low} to {high}), against {system.label}."
    )


def comparisons_of(systems: Mapping[str, SystemScores], titles: Mapping[TaskName, str]) -> dict[str, Any]:
    """Returns the lookup table of the page's script: every pair of systems, the earlier system first.

    A comparison has a row for each task, by its position among the titles, one for their mean, and the
    sentence on what it would have shown. A row has both means, the difference and the ends of its interval
    (None without one) in hundredths of a point, the numbers of seeds, and the position of the outcome.
    """
    positions = {name: position for position, name in enumerate(titles)}
    comparisons = {}
    for (index, first), (other, second) in combinations(enumerate(systems.values()), 2):
        both = compare_systems(first, second)
        rows = {positions[name]: written(difference) for name, difference in both.tasks.items()}
        mean = None if both.mean is None else written(both.mean)
        comparisons[f"{index} {other}"] = [rows, mean, both.power_in_words]
    return {
        "outcomes": OUTCOMES,
        "tasks": list(titles.values()),
        "labels": [system.label for system in systems.values()],
        "keys": list(systems),
        "comparisons": comparisons,
    }


def jointly_of(
    best: SystemScores, rows: Sequence[tuple[SystemScores, SystemComparison]], keys: Sequence[str]
) -> dict[str, Any]:
    """Returns the position of the best system, and by the position of each other one the difference of their
    means that holds among all systems, as a row of a comparison."""
    means = {compared.second: compared.mean for _, compared in rows if compared.mean is not None}
    return {
        "best": keys.index(best.key),
        "jointly": {keys.index(key): written(mean) for key, mean in means.items()},
    }


def written(difference: Difference) -> list[int | None]:
    """Returns a difference as a row of a comparison."""
    ends = [None, None] if difference.interval is None else [hundredths(end) for end in difference.interval]
    values = [hundredths(value) for value in (difference.first, difference.second, difference.difference)]
    return [*values, *ends, *difference.seeds, OUTCOMES.index(difference.outcome)]


def hundredths(value: float) -> int:
    """Returns a raw score in hundredths of a point, rounded as displayed."""
    return round(100 * float(f"{100 * value:.2f}"))


def differences_of(comparison: SystemComparison) -> Chart:
    """Returns the differences between two systems, a line per task and one for the mean, with their
    intervals; the legend has their outcomes. Errors: InputError as of `draw`.
    """
    rows: list[Row] = []
    mean = [("Mean", comparison.mean)] if comparison.mean else []
    for task, difference in [
        *((name.task, difference) for name, difference in comparison.tasks.items()),
        *mean,
    ]:
        values = f"{100 * difference.first:.2f} and {100 * difference.second:.2f}, {difference.outcome}"
        row = {"name": task, "kind": difference.outcome, "value": 100 * difference.difference, "says": values}
        if difference.interval is not None:
            low, high = difference.interval
            row |= {"low": 100 * low, "high": 100 * high}
        rows.append(row)
    return draw(
        "rows",
        rows,
        key="differences",
        title=f"{comparison.first} minus {comparison.second}",
        says=tally_in_words(comparison.tally, comparison.first),
        x_title=f"{comparison.first} minus {comparison.second}, points; bars: intervals",
        kinds=[outcome for outcome in OUTCOMES if any(row["kind"] == outcome for row in rows)],
        zero=True,
    )


PAGE = Page("Compare", "pages/compare.html", "compare.html.j2", compare_values, order=4)
