"""Comparison of two named systems over seeds and the pairs of test sets, for `sentbench compare`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.errors import InputError, near_matches
from harness.io.records import check_plain
from harness.paths import SCORES, need_checkout, stored_vectors

if TYPE_CHECKING:
    from harness.evidence.schema import ResultFile, RunRecord, ScoreRecord
    from harness.evidence.statistics import StandardError
    from harness.evidence.system_pairs import SystemComparison, TaskName


def compare_named(
    names: tuple[str, str], *, tasks: Sequence[str] | None = None, pairs: bool = True
) -> SystemComparison:
    """Returns the differences of two systems, SYSTEM or SYSTEM@BACKBONE, or of two runs by their keys.

    tasks: names of tasks and suites; None: all common ones. pairs: whether to compute intervals over pairs.
    Errors: InputError for an unknown or repeated name, or without a common test set.
    """
    from harness.evidence.system_pairs import compare_systems, system_scores

    need_checkout("comparing systems by name")
    results = recorded(names)
    first, second = (results_named(name, results) for name in names)
    if first == second:
        run = first[0].run
        raise InputError(f"{run.id}@{run.backbone} on both sides")
    if tasks is not None:
        first, second = (only_tasks(side, tasks) for side in (first, second))
    errors = errors_over_pairs(first, second) if pairs else {}
    ((ours,), (theirs,)) = (system_scores(side).values() for side in (first, second))
    comparison = compare_systems(ours, theirs, pairs=errors)
    if not comparison.tasks:
        raise InputError(
            f"{ours.key} and {theirs.key} have no test set in common; evaluate both on the same tasks"
        )
    return comparison


def recorded(names: Collection[str]) -> list[ResultFile]:
    """Returns the results of these systems and runs. Errors: InputError if no result is recorded."""
    from harness.evidence.further import read_recorded

    systems = {name.partition("@")[0] for name in names}

    def kept(run: RunRecord, score: ScoreRecord) -> bool:
        return run.key in names or run.id in systems

    check_plain(SCORES, again="run `dvc repro` again", pattern="*.json")
    results = read_recorded(kept=kept).results
    if not results:
        raise InputError(f"{SCORES}: no result files; run `dvc repro`, or name a folder")
    return results


def results_named(name: str, results: Sequence[ResultFile]) -> list[ResultFile]:
    """Returns the results of a run, or of all seeds of a system on one backbone.

    Errors: InputError for an unknown name, and for a system with results on several backbones if the name has
    no backbone.
    """
    system, _, backbone = name.partition("@")
    matching = [
        result
        for result in results
        if result.run.key == name or (result.run.id == system and backbone in ("", result.run.backbone))
    ]
    backbones = sorted({result.run.backbone for result in matching})
    if len(backbones) > 1:
        raise InputError(f"{name} has results on {', '.join(backbones)}; write {name}@{backbones[0]}")
    if not matching:
        known = sorted({key for result in results for key in (result.run.id, result.run.key)})
        raise InputError(f"{name!r} has no results{near_matches(name, known)}")
    return matching


def only_tasks(results: Sequence[ResultFile], names: Sequence[str]) -> list[ResultFile]:
    """Returns the results with only the scores of these tasks and suites; InputError for an empty list."""
    from harness.tasks.registry import tasks_named

    wanted = {task.name for task in tasks_named(names, text=results[0].provenance.text)}
    return [
        result.model_copy(update={"scores": [score for score in result.scores if score.task in wanted]})
        for result in results
    ]


def errors_over_pairs(
    first: Sequence[ResultFile], second: Sequence[ResultFile]
) -> Mapping[TaskName, StandardError]:
    """Returns the errors over pairs of each task, over the seeds with stored vectors; {} if a side has none.
    Tasks without local data are skipped. Vectors are of the selected weights.
    """
    first, second = (
        [result for result in side if stored_vectors(result.run.key).is_file()] for side in (first, second)
    )
    if not (first and second):
        return {}
    from harness.io.embeddings import EmbeddingStore
    from harness.report.assembly.pairs import comparable_pairs, error_over_pairs

    encoders = [EmbeddingStore.load(stored_vectors(result.run.key)).encode for result in (*first, *second)]
    ours, theirs = encoders[: len(first)], encoders[len(first) :]
    errors = {name: error_over_pairs(task, ours, theirs) for name, task in comparable_pairs(first, second)}
    return {name: error for name, error in errors.items() if error is not None}
