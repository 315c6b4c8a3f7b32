"""Evaluation of a model: every unique text is encoded once for all tasks."""

from __future__ import annotations

from collections.abc import Sequence

from harness.tasks.interface import Encode, Score, Task
from harness.tasks.vectors import encode_unique


def unique_texts(tasks: Sequence[Task]) -> list[str]:
    """Returns every text whose vector the tasks need, each once, in the order of first use."""
    return list(dict.fromkeys(text for task in tasks for text in task.texts()))


def evaluate_tasks(tasks: Sequence[Task], encode: Encode) -> list[Score]:
    """Returns the scores of all tasks; `encode` is called once, with the union of their unique texts.

    Errors: InputError if the answer is not one finite vector for each text, or a task cannot score it.
    """
    encoded = encode_unique(encode, unique_texts(tasks), "evaluation", dtype=None)
    return [
        score for task in tasks for score in task.evaluate(lambda texts: encoded.matrix[encoded.rows(texts)])
    ]


def evaluate_stored(tasks: Sequence[Task], encode: Encode) -> list[Score]:
    """Returns the scores of all tasks, each reading only its own texts: for vectors stored on disk.

    The memory needed is that of the largest task; `evaluate_tasks` holds the vectors of all of them.
    """
    return [score for task in tasks for score in task.evaluate(encode)]
