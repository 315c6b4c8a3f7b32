"""The scores of each run as a flat file, which `dvc metrics` shows as one row of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable

from harness.facts.statistics import mean
from harness.report.runs import selected_scores
from harness.report.system_pairs import HEADLINE
from harness.results.schema import ResultFile

MEAN = "Mean"
DIGITS = 4


def metrics_files(results: Iterable[ResultFile]) -> dict[str, str]:
    """Returns the metrics of each run as JSON, by path below the report."""
    return {
        f"tables/metrics/{result.run.key}.json": json.dumps(flat_metrics(result), indent=1) + "\n"
        for result in results
    }


def flat_metrics(result: ResultFile) -> dict[str, float]:
    """Returns scores x 100 by task, of the first weights that the run selects, and the mean of its test sets.

    Settings other than `all` and tasks with settings in their name are left out, and the mean leaves out
    development sets.
    """
    found: dict[str, float] = {}
    for metric in HEADLINE:  # at most one for each task: the first that it has
        for score in selected_scores(result):
            if (score.metric, score.setting) == (metric, "all") and ":" not in score.task:
                found.setdefault(score.task, round(100 * score.value, DIGITS))
    test = [value for task, value in found.items() if not task.endswith("-dev")]
    return {**found, **({MEAN: round(mean(test), DIGITS)} if test else {})}
