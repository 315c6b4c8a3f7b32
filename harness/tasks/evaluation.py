"""Evaluation of a model: each unique text is encoded once, and its vector is checked before use."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from harness.errors import InputError, NoScoreError
from harness.tasks.interface import Encode, Score, Task


class Encoded(NamedTuple):
    """Vectors of unique texts: `matrix` [U, d] and the row of each text."""

    matrix: np.ndarray
    row: dict[str, int]

    def rows(self, texts: Iterable[str]) -> np.ndarray:
        """Returns the row numbers of `texts`."""
        return np.array([self.row[text] for text in texts], dtype=np.int64)


def encode_unique(
    encode: Encode, texts: Iterable[str], task: str, *, dtype: type[np.floating] | None = np.float32
) -> Encoded:
    """Returns the vectors of the unique `texts` as `dtype` (None: as given), from one call.

    Errors: InputError if the answer is not one finite vector of one width for each text.
    """
    unique = list(dict.fromkeys(texts))
    answer = encode(unique)
    try:
        matrix = np.asarray(answer, dtype=dtype)
        if matrix.dtype.kind not in "fiu":
            raise TypeError(matrix.dtype)
    except (TypeError, ValueError) as error:
        raise InputError(f"{task}: the encoder must return one array of numbers [N, d]") from error
    if matrix.ndim != 2 or len(matrix) != len(unique) or not matrix.shape[1]:
        raise InputError(
            f"{task}: the encoder returned an array of shape {list(matrix.shape)} for {len(unique)} texts; "
            f"expected [{len(unique)}, d]"
        )
    finite = np.isfinite(matrix).all(axis=1)
    if not finite.all():
        raise NoScoreError(
            f"{task}: {int((~finite).sum())} of {len(unique)} vectors are not finite, the first for "
            f"{unique[int(finite.argmin())]!r}; check weights and precision"
        )
    return Encoded(matrix, {text: i for i, text in enumerate(unique)})


def unique_texts(tasks: Sequence[Task]) -> list[str]:
    """Returns the unique texts of the tasks, in the order of first use."""
    return list(dict.fromkeys(text for task in tasks for text in task.texts()))


def evaluate_tasks(tasks: Sequence[Task], encode: Encode) -> list[Score]:
    """Returns the scores of all tasks; `encode` is called once, with the union of their unique texts.

    Errors: InputError if the answer is not one finite vector for each text, or a task cannot score it.
    """
    encoded = encode_unique(encode, unique_texts(tasks), "evaluation", dtype=None)
    return evaluate_stored(tasks, lambda texts: encoded.matrix[encoded.rows(texts)])


def evaluate_stored(tasks: Sequence[Task], encode: Encode) -> list[Score]:
    """Returns the scores of all tasks from vectors stored on disk; each task reads only its texts.

    Memory is bounded by the largest task; `evaluate_tasks` holds the vectors of all tasks.
    """
    return [score for task in tasks for score in task.evaluate(encode)]
