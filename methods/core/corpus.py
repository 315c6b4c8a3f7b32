"""A tokenised corpus: each text becomes word pieces once, before step 0, and never again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.pieces import pieces_of
from methods.core.types import TEXT, Column, Row


class TokenizedCorpus:
    """The word pieces of some columns of every row, each column one flat array of 4 bytes a piece.

    Columns that were tokenised before are read from the encoder's `piece_folder`; see `methods.core.pieces`.
    """

    def __init__(
        self,
        encoder: SentenceEncoder,
        rows: Sequence[Row],
        *,
        max_length: int,
        columns: Sequence[Column] = (TEXT,),
    ) -> None:
        self._columns = {
            column: pieces_of(encoder, texts_of(rows, column), max_length)
            for column in dict.fromkeys(columns)
        }
        self._positions = positions_by_index(rows)

    def ids(self, row: Row, column: Column) -> np.ndarray:
        """Returns the word pieces of one text of a row, special tokens included; int32 [length]."""
        return self._columns[column].ids(self._positions[row.index])


def positions_by_index(rows: Sequence[Row]) -> np.ndarray:
    """Returns where the row of each index stands among `rows`, -1 for an index that is not there."""
    indices = [row.index for row in rows]
    positions = np.full(max(indices, default=-1) + 1, -1, dtype=np.int64)
    positions[indices] = np.arange(len(rows))
    return positions


def texts_of(rows: Sequence[Row], column: Column) -> list[str]:
    """Returns one text of every row: the sentence itself for column 0, its p-th augmentation for column p.

    Errors: InputError if a row has fewer augmentations.
    """
    short = next((row for row in rows if len(row.augmentations) < column), None)
    if short is not None:
        raise InputError(
            f"row {short.index} of the corpus has {len(short.augmentations) or 'no'} augmentations, expected "
            f"at least {column} in every row; name a corpus with as many in the recipe"
        )
    return [row.columns[column] for row in rows]
