"""The interface between a model and a task: each text is encoded once, and the vectors are checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from harness.errors import InputError
from harness.tasks.interface import Encode


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
        raise InputError(
            f"{task}: the encoder's vectors are not one array of numbers; return an array [N, d]"
        ) from error
    if matrix.ndim != 2 or len(matrix) != len(unique) or not matrix.shape[1]:
        raise InputError(
            f"{task}: the encoder returned an array of shape {list(matrix.shape)} for {len(unique)} texts; "
            f"expected [{len(unique)}, d]"
        )
    finite = np.isfinite(matrix).all(axis=1)
    if not finite.all():
        raise InputError(
            f"{task}: {int((~finite).sum())} of {len(unique)} vectors are not finite, the first for "
            f"{unique[int(finite.argmin())]!r}; expected finite numbers, so check weights and precision"
        )
    return Encoded(matrix, {text: i for i, text in enumerate(unique)})
