"""The shape of an embedding space: alignment, uniformity, anisotropy, and the share of high cosines.

Vectors are always normalised first; values computed without normalisation are not comparable.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from harness.data.corpora import evenly_spaced, read_corpus
from harness.data.download import folder_of
from harness.data.sts import ScoredPair
from harness.errors import InputError
from harness.tasks.evaluation import encode_unique
from harness.tasks.interface import Encode, Score
from harness.tasks.sts import unit_rows
from harness.tasks.sts_sets import read_stsb_split

POSITIVES: dict[str, Callable[[float], bool]] = {
    "all": lambda gold: gold > 4.0,
    "at-least-4": lambda gold: gold >= 4.0,
}
"""Setting of an alignment -> gold scores of positive pairs of STS-B: above 4 in SimCSE's figure and later
ones, 4 and above in DCLR's code."""
SENTENCES, THRESHOLD = 256, 0.7
"""Number of sentences of the batch, and threshold of counted cosines. Source: DCLR, figure 1 and text."""
_ROWS = 1024  # rows of the distance matrix in memory


def alignment(first: np.ndarray, second: np.ndarray) -> float:
    """Returns the mean squared distance of positive pairs on the unit sphere; lower is closer.

    Source: Wang and Isola 2020, eq. 1 with exponent 2; SimCSE uses pairs of STS-B with a gold score above 4.
    Shapes: first [N, d], second [N, d].
    Facts: equals 2 - 2 * mean cosine; in [0, 4]; 0 if each pair has one direction.
    Errors: InputError without pairs.
    """
    if not len(first) or first.shape != second.shape:
        raise InputError(
            f"alignment of {first.shape} and {second.shape}: expected two arrays [N, d] of positive pairs"
        )
    difference = unit_rows(first) - unit_rows(second)
    return float(np.einsum("nd,nd->n", difference, difference).mean())


def uniformity(vectors: np.ndarray) -> float:
    """Returns the log of the mean of exp(-2 |x - y|^2) over unordered pairs of rows on the unit sphere.

    Source: Wang and Isola 2020, eq. 2 with t = 2. PT-BERT omits the logarithm; we keep it.
    Shapes: vectors [N, d]; needs N * 1024 numbers of memory.
    Facts: 0 if all rows have one direction; -8 for two opposite rows; lower is more spread.
    Errors: InputError for fewer than two rows, or a zero row.
    """
    unit = _directions(vectors)
    count, total = len(unit), 0.0
    for start in range(0, count, _ROWS):
        block = unit[start : start + _ROWS]
        rest = unit[start:]  # [R, d]: rows before `start` have met this block already
        kernel = np.exp(4.0 * np.minimum(block @ rest.T, 1.0) - 4.0)  # |x - y|^2 = 2 - 2 x.y
        total += float(kernel[:, len(block) :].sum())
        total += float(np.triu(kernel[:, : len(block)], k=1).sum())
    return float(np.log(total / (count * (count - 1) / 2)))


def anisotropy(vectors: np.ndarray) -> float:
    """Returns the mean cosine over all pairs of different rows; 0 for uniformly distributed directions.

    The sum over pairs is (|sum of unit rows|^2 - N) / 2, so the exact mean costs no more than a sample.
    Shapes: vectors [N, d]. Facts: 1 if all rows have one direction; at least -1 / (N - 1).
    Errors: InputError for fewer than two rows, or a zero row.
    """
    unit = _directions(vectors)
    count, total = len(unit), unit.sum(axis=0)
    return float((total @ total - count) / (count * (count - 1)))


def share_above(vectors: np.ndarray, threshold: float) -> np.ndarray:
    """Returns for each row the share of the other rows whose cosine with it is above `threshold`; [N].

    Shapes: vectors [N, d]. Errors: InputError for fewer than two rows, or a zero row.
    """
    unit = _directions(vectors)
    above = unit @ unit.T > threshold
    np.fill_diagonal(above, False)
    return np.asarray(above.sum(axis=1) / (len(vectors) - 1))


def _directions(vectors: np.ndarray) -> np.ndarray:
    """Returns the rows at unit length [N, d]; InputError for fewer than two rows, or a zero row."""
    if vectors.ndim != 2 or len(vectors) < 2:
        raise InputError(f"vectors of shape {vectors.shape}: expected [N, d] with N of 2 or more")
    zero = int((~vectors.any(axis=1)).sum())
    if zero:
        raise InputError(f"{zero} of {len(vectors)} vectors are zero and have no direction")
    return unit_rows(vectors)


class GeometryTask:
    """Alignment of the positive pairs of STS-B, uniformity and anisotropy of its distinct sentences.

    Metrics `alignment`, `uniformity`, `anisotropy`; setting `all`, and for alignment the settings of
    POSITIVES; n counts pairs for alignment, otherwise texts.
    """

    def __init__(
        self, name: str, splits: Sequence[str], text: str, source: str, *, folder: Path | None = None
    ) -> None:
        self.name, self.splits, self.text, self.source, self.folder = name, splits, text, source, folder

    @cached_property
    def rows(self) -> list[ScoredPair]:
        """The rows of the splits, read once, in the text form of the task."""
        folder = self.folder or folder_of(self.source)
        return [
            row
            for split in self.splits
            for row in read_stsb_split(folder, split, form=self.text, source=self.source)
        ]

    def texts(self) -> Iterable[str]:
        for row in self.rows:
            yield row.first
            yield row.second

    def evaluate(self, encode: Encode) -> list[Score]:
        encoded = encode_unique(encode, self.texts(), self.name, dtype=np.float64)
        vectors, scores = encoded.matrix, list[Score]()
        try:
            for setting, is_positive in POSITIVES.items():
                pairs = [(row.first, row.second) for row in self.rows if is_positive(row.score)]
                first, second = (vectors[encoded.rows(pair[side] for pair in pairs)] for side in (0, 1))
                scores.append(Score(self.name, "alignment", setting, alignment(first, second), len(pairs)))
            for metric, measure in (("uniformity", uniformity), ("anisotropy", anisotropy)):
                scores.append(Score(self.name, metric, "all", measure(vectors), len(vectors)))
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None
        return scores


class BatchCosines:
    """The share of cosines above THRESHOLD among SENTENCES of a corpus, evenly spread over it.

    Metric `share-above`; setting `all`: the mean over all sentences, each compared with the others; setting
    `first`: only the first sentence. n counts cosines. Texts are read as in training.
    """

    def __init__(self, name: str, source: str, *, folder: Path | None = None) -> None:
        self.name, self.source, self.folder = name, source, folder

    def texts(self) -> Iterable[str]:
        rows = read_corpus(self.folder or folder_of(self.source))
        distinct = list(dict.fromkeys(row.text for row in rows))
        return evenly_spaced(distinct, SENTENCES)

    def evaluate(self, encode: Encode) -> list[Score]:
        vectors = encode_unique(encode, self.texts(), self.name, dtype=np.float64).matrix
        shares = share_above(vectors, THRESHOLD)
        others = len(shares) - 1
        return [
            Score(self.name, "share-above", "all", float(shares.mean()), len(shares) * others),
            Score(self.name, "share-above", "first", float(shares[0]), others),
        ]
