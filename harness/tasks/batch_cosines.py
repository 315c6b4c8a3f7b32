"""The share of high cosines between the sentences of a training batch, as in DCLR."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from harness.data.corpora import corpus_file, read_corpus
from harness.data.download import folder_of
from harness.errors import InputError
from harness.tasks.interface import Encode, Score
from harness.tasks.sts import unit_rows
from harness.tasks.vectors import encode_unique

SENTENCES, THRESHOLD = 256, 0.7
"""Sentences of the batch, and the cosine above which the paper counts. Source: DCLR, figure 1 and text."""


def share_above(vectors: np.ndarray, threshold: float) -> np.ndarray:
    """Returns for each row the share of the other rows whose cosine with it is above `threshold`; [N].

    Shapes: vectors [N, d]. Errors: InputError for fewer than two rows, or a zero row.
    """
    if len(vectors) < 2 or not vectors.any(axis=1).all():
        raise InputError(
            f"cosines of {len(vectors)} vectors: expected two or more, none of them zero; leave those out"
        )
    unit = unit_rows(vectors)
    above = unit @ unit.T > threshold
    np.fill_diagonal(above, False)
    return np.asarray(above.sum(axis=1) / (len(vectors) - 1))


class BatchCosines:
    """The share of cosines above THRESHOLD among SENTENCES of a corpus, evenly spread over it.

    Metric `share-above`; setting `all`: each sentence as the one that the others are compared with, the mean;
    setting `first`: the first of them alone. n counts cosines. Texts are read as they are trained on.
    """

    def __init__(self, name: str, source: str, *, folder: Path | None = None) -> None:
        self.name, self.source, self.folder = name, source, folder

    def texts(self) -> Iterable[str]:
        rows = read_corpus(corpus_file(self.folder or folder_of(self.source)))
        distinct = list(dict.fromkeys(text for text, _ in rows))
        count = min(SENTENCES, len(distinct))
        return [distinct[number * len(distinct) // count] for number in range(count)]

    def evaluate(self, encode: Encode) -> list[Score]:
        vectors = encode_unique(encode, self.texts(), self.name, dtype=np.float64).matrix
        shares = share_above(vectors, THRESHOLD)
        others = len(shares) - 1
        return [
            Score(self.name, "share-above", "all", float(shares.mean()), len(shares) * others),
            Score(self.name, "share-above", "first", float(shares[0]), others),
        ]
