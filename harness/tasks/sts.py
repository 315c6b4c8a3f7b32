"""Semantic textual similarity: the correlation of cosines with human scores.

Ties. Cosines are float64 and rounded to TIED_DECIMALS decimals, so mathematically equal cosines are tied
instead of ordered by rounding noise.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from harness.data.download import folder_of
from harness.data.sts import ScoredPair
from harness.errors import NoScoreError
from harness.tasks.evaluation import encode_unique
from harness.tasks.interface import Encode, Score

TIED_DECIMALS = 12
PAIRS_ENCODED = 16_384
"""Pairs per call of the encoder; bounds the memory."""
_PAIRS_WIDENED = 1024
"""Pairs per block of float64 vectors."""
Subsets = dict[str, list[ScoredPair]]


class StsTask:
    """One set of scored pairs. A set of several subsets is also scored subset by subset.

    Settings: `all` one correlation over all pairs; with several subsets also `mean` over them, `wmean`
    weighted by their pairs, and `subset:NAME`. The papers report `all`.
    """

    def __init__(
        self, name: str, source: str, read: Callable[[Path], Subsets], *, folder: Path | None = None
    ) -> None:
        self.name, self.source, self.read, self.folder = name, source, read, folder

    @cached_property
    def subsets(self) -> Subsets:
        """The scored pairs of each subset, read once, in the text form of the task."""
        return self.read(self.folder or folder_of(self.source))

    @property
    def pairs(self) -> list[ScoredPair]:
        """All pairs, subset after subset."""
        return [pair for pairs in self.subsets.values() for pair in pairs]

    def texts(self) -> Iterable[str]:
        for pair in self.pairs:
            yield pair.first
            yield pair.second

    def evaluate(self, encode: Encode) -> list[Score]:
        similarities = cosines_of_pairs(encode, self.pairs, self.name)
        gold = np.array([pair.score for pair in self.pairs])
        sizes = [len(pairs) for pairs in self.subsets.values()]
        scores = []
        for metric, correlation in (("spearman", spearman), ("pearson", pearson)):
            scores.append(Score(self.name, metric, "all", correlation(gold, similarities), len(gold)))
            if len(sizes) > 1:
                ends = np.cumsum(sizes)[:-1]
                parts = zip(np.split(gold, ends), np.split(similarities, ends), strict=True)
                scores += self._by_subset(metric, [correlation(*part) for part in parts], sizes)
        undefined = [score for score in scores if not np.isfinite(score.value)]
        problem = next((score for score in undefined if score.setting not in ("mean", "wmean")), None)
        if problem:
            raise NoScoreError(
                f"{self.name}: {problem.metric} over {problem.setting} is not defined: the cosines or gold "
                f"scores of its {problem.n} pairs are all equal"
            )
        return scores

    def _by_subset(self, metric: str, values: list[float], sizes: list[int]) -> list[Score]:
        total = sum(sizes)
        summary = {"mean": float(np.mean(values)), "wmean": float(np.average(values, weights=sizes))}
        return [Score(self.name, metric, setting, value, total) for setting, value in summary.items()] + [
            Score(self.name, metric, f"subset:{subset}", value, size)
            for subset, value, size in zip(self.subsets, values, sizes, strict=True)
        ]


def cosines_of_pairs(encode: Encode, pairs: Sequence[ScoredPair], task: str) -> np.ndarray:
    """Returns the cosine of each pair [N] in float64, rounded to TIED_DECIMALS decimals.

    `encode` is called once per PAIRS_ENCODED pairs, so once for every usual test set.
    """
    starts = range(0, len(pairs), PAIRS_ENCODED) or (0,)
    return np.concatenate([_cosines(encode, pairs[at : at + PAIRS_ENCODED], task) for at in starts])


def _cosines(encode: Encode, pairs: Sequence[ScoredPair], task: str) -> np.ndarray:
    texts = (text for pair in pairs for text in (pair.first, pair.second))
    encoded = encode_unique(encode, texts, task, dtype=None)
    first, second = (encoded.rows(side) for side in ((p.first for p in pairs), (p.second for p in pairs)))
    cosines = np.empty(len(pairs))
    for start in range(0, len(pairs), _PAIRS_WIDENED):
        rows = slice(start, start + _PAIRS_WIDENED)
        unit, other = (unit_rows(encoded.matrix[side[rows]]) for side in (first, second))
        cosines[rows] = np.einsum("nd,nd->n", unit, other)
    return np.round(cosines, TIED_DECIMALS)


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Returns the rows [N, d] at unit length in float64; a zero row stays zero (cosine 0, as in SentEval)."""
    wide = np.asarray(vectors, dtype=np.float64)
    lengths = np.sqrt(np.einsum("nd,nd->n", wide, wide))[:, None]
    return np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)


def pearson(first: np.ndarray, second: np.ndarray) -> float:
    """Returns the linear correlation in [-1, 1]; nan if one of the two is constant."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    a, b = first - first.mean(), second - second.mean()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    """Returns the rank correlation with mean ranks for ties; nan if one of the two is constant."""
    from scipy.stats import rankdata  # takes a second to import

    return pearson(rankdata(first), rankdata(second))
