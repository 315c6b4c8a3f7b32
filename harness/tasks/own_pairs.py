"""A task of custom pairs: the correlation of cosines with their scores, as in the STS sets."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.data.own_pairs import read_own_pairs, scored_pairs_of
from harness.data.sources import SOURCE_ENDING
from harness.errors import InputError
from harness.tasks.interface import Task
from harness.tasks.sts import StsTask


def own_pairs_task(pairs: str | Path | Iterable[Any], name: str | None = None) -> StsTask:
    """Returns the task of a file of pairs, or of rows (sentence, sentence, score); texts stay unchanged.

    name: default the file's name without its ending, or `pairs`.
    Errors: InputError as of `harness.data.own_pairs.read_own_pairs`, or for rows of another length.
    """
    if isinstance(pairs, str | Path):
        path = Path(pairs)
        scored, name = read_own_pairs(path), name or path.stem
    else:
        scored, name = scored_pairs_of(enumerated(pairs), name or "pairs"), name or "pairs"
    return StsTask(name, "", lambda folder: {"all": scored}, folder=Path())


def is_own(task: Task) -> bool:
    """Returns whether a task has custom pairs, whose texts stay unchanged."""
    return task.source in ("", f"{task.name}{SOURCE_ENDING}")


def enumerated(rows: Iterable[Any]) -> list[tuple[str, tuple[Any, Any, Any]]]:
    """Returns rows with their numbers for messages. Errors: InputError unless each row has three values."""
    try:
        tuples = [tuple(row) for row in rows]
    except TypeError:
        raise InputError("pairs: expected a file or rows of two sentences and a score") from None
    wrong = next((number for number, row in enumerate(tuples, 1) if len(row) != 3), None)
    if wrong is not None:
        raise InputError(
            f"pairs: row {wrong} has {len(tuples[wrong - 1])} values, expected two sentences and a score"
        )
    return [(f"row {number}", row) for number, row in enumerate(tuples, 1)]
