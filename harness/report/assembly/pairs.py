"""Scored pairs of sentences: an encoder's cosines, and intervals of its correlations over the pairs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from harness.evidence.resampling import percentile_interval, resampled_correlations, standard_error
from harness.evidence.schema import ResultFile
from harness.evidence.statistics import Interval, StandardError
from harness.evidence.system_pairs import (
    SystemComparison,
    SystemScores,
    TaskName,
    compare_systems,
    headlines,
)
from harness.paths import SOURCE_RECORD, data_roots
from harness.report.formats.scores import AVERAGE, ScoreLine, average_of
from harness.tasks.evaluation import evaluate_stored
from harness.tasks.interface import Encode, Task
from harness.tasks.registry import build_tasks
from harness.tasks.sts import StsTask, cosines_of_pairs

SEED = 0
FEWEST_PAIRS = 30
"""With fewer pairs a correlation has no interval: it would cover nearly all values."""


def score_lines(
    tasks: Sequence[Task],
    encode: Encode,
    *,
    intervals: bool = False,
    kept: dict[str, np.ndarray] | None = None,
    ended: Callable[[str], object] = lambda task: None,
) -> list[ScoreLine]:
    """Returns the scores of all tasks in raw units; with `intervals` also of correlations over all pairs, of
    tasks with FEWEST_PAIRS.

    The interval of a task does not depend on the other tasks. kept: filled with Spearman's correlation in
    each draw of the pairs by task, for `average_intervals`. ended: called with each task that has its
    intervals.
    """
    known: dict[tuple[str, str, str], Interval | None] = {}
    for task in with_intervals(tasks) if intervals else ():
        for metric in ("spearman", "pearson"):
            draws = _draws(task, [encode], ranked=metric == "spearman")
            known[task.name, metric, "all"] = percentile_interval(draws[0])
            if kept is not None and metric == "spearman":
                kept[task.name] = draws[0]
        ended(task.name)
    return [
        ScoreLine(**score._asdict(), interval=known.get((score.task, score.metric, score.setting)))
        for score in evaluate_stored(tasks, encode)
    ]


def average_intervals(
    kept: Mapping[str, np.ndarray], suites: Mapping[str, Sequence[str]]
) -> dict[str, Interval]:
    """Returns the 95 % interval of the mean correlation of each suite whose tasks all have draws.

    kept: filled by `score_lines`. The pairs of each task are drawn independently.
    """
    intervals = {}
    for suite, names in suites.items():
        if names and all(name in kept for name in names):
            interval = percentile_interval(np.mean([kept[name] for name in names], axis=0))
            intervals.update({suite: interval} if interval else {})
    return intervals


def average_lines(
    lines: Sequence[ScoreLine], kept: Mapping[str, np.ndarray], suites: Mapping[str, Sequence[str]]
) -> list[ScoreLine]:
    """Returns a line of setting `average` for each suite of several scored tasks.

    Its value is the mean of the scores, its n the number of tasks.
    """
    bounds, averages = average_intervals(kept, suites), []
    for suite, names in suites.items():
        average = average_of(names, lines)
        if average is not None:
            metric, setting, value = average
            interval = bounds.get(suite) if (metric, setting) == ("spearman", "all") else None
            averages.append(ScoreLine(f"Avg. {suite}", metric, AVERAGE, value, len(names), interval))
    return averages


def error_over_pairs(
    task: StsTask, first: Sequence[Encode], second: Sequence[Encode]
) -> StandardError | None:
    """Returns the bootstrap error of the difference in Spearman's correlation of two systems on one task.

    first, second: the encoders of each system's seeds; the mean over seeds is compared, on the same draws.
    """
    draws = _draws(task, [*first, *second])
    return standard_error(draws[: len(first)].mean(axis=0) - draws[len(first) :].mean(axis=0))


def compare_models(
    names: tuple[str, str], encoders: tuple[Encode, Encode], tasks: Sequence[Task], *, text: str
) -> SystemComparison:
    """Returns the differences of two encoders, judged over the pairs of each STS set."""
    ours, theirs = (
        SystemScores(name, name, tasks={key: {0: value} for key, value in headlines(scores, text)})
        for name, scores in zip(names, (evaluate_stored(tasks, encoder) for encoder in encoders), strict=True)
    )
    errors = {task.name: error_over_pairs(task, encoders[:1], encoders[1:]) for task in scored_pairs(tasks)}
    pairs = {
        name: error
        for name in ours.tasks
        if name.metric == "spearman" and (error := errors.get(name.task)) is not None
    }
    return compare_systems(ours, theirs, pairs=pairs)


def _draws(task: StsTask, encoders: Sequence[Encode], *, ranked: bool = True) -> np.ndarray:
    """Returns the correlation of each encoder in each draw of the pairs; [encoders, resamples]."""
    gold = np.array([pair.score for pair in task.pairs])
    cosines = [cosines_of_pairs(encode, task.pairs, task.name) for encode in encoders]
    return resampled_correlations(gold, cosines, ranked=ranked, stream=stream_of(task))


def comparable_pairs(
    first: Sequence[ResultFile], second: Sequence[ResultFile]
) -> Iterator[tuple[TaskName, StsTask]]:
    """Yields the tasks of scored pairs with scores of both systems and fetched data."""
    ours, theirs = (
        {name for result in side for name, _ in headlines(result.scores, result.provenance.text)}
        for side in (first, second)
    )
    for name in sorted(ours & theirs):
        if name.metric != "spearman":
            continue
        for task in scored_pairs(build_tasks([name.task], text=name.text)):
            if any((root / task.source / SOURCE_RECORD).is_file() for root in data_roots()):
                yield name, task


def scored_pairs(tasks: Iterable[Task]) -> list[StsTask]:
    """Returns the tasks that are correlations over pairs of sentences."""
    return [task for task in tasks if isinstance(task, StsTask)]


def with_intervals(tasks: Iterable[Task]) -> list[StsTask]:
    """Returns the tasks of scored pairs with enough pairs for an interval."""
    return [task for task in scored_pairs(tasks) if len(task.pairs) >= FEWEST_PAIRS]


def stream_of(task: StsTask) -> list[int]:
    """Returns the key of the random draws of a task."""
    return [SEED, *task.name.encode()]
