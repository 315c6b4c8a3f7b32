"""A tokenised corpus: each text becomes word pieces once, before step 0, and never again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from methods.core.errors import InputError

if TYPE_CHECKING:
    from methods.core.encoder import SentenceEncoder
    from methods.core.interface import Row

CHUNK = 10_000


class TokenizedCorpus:
    """The word pieces of every row's text in one flat array of 4 bytes each, looked up by `Row.index`."""

    def __init__(self, encoder: SentenceEncoder, rows: Sequence[Row], *, max_length: int) -> None:
        pieces: list[np.ndarray] = []
        lengths: list[int] = []
        for start in range(0, len(rows), CHUNK):
            ids = encoder.token_ids([row.text for row in rows[start : start + CHUNK]], max_length=max_length)
            lengths.extend(len(row) for row in ids)
            pieces.append(np.fromiter((piece for row in ids for piece in row), dtype=np.int32))
        self.flat = np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int32)
        self.ends = np.cumsum([0, *lengths])
        self.place = np.full(max((row.index for row in rows), default=-1) + 1, -1, dtype=np.int64)
        self.place[[row.index for row in rows]] = np.arange(len(rows))

    def ids(self, row: Row) -> np.ndarray:
        """Returns the word pieces of one row of the corpus, special tokens included; int32 [length]."""
        place = self.place[row.index]
        return self.flat[self.ends[place] : self.ends[place + 1]]


def rows_of_view(rows: Sequence[Row], view: int) -> list[Row]:
    """Returns the rows with one view of theirs as text: 0 the sentence itself, p its p-th paraphrase.

    Errors: InputError if the corpus carries fewer paraphrases.
    """
    short = next((row for row in rows if len(row.paraphrase) < view), None)
    if short is not None:
        raise InputError(
            f"row {short.index} of the corpus has {len(short.paraphrase) or 'no'} paraphrases, expected at "
            f"least {view} in every row; name a corpus with as many in the recipe"
        )
    return [row._replace(text=row.paraphrase[view - 1]) if view else row for row in rows]
