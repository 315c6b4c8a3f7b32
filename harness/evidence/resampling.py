"""The bootstrap over the pairs of sentences of a test set.

Pairs are resampled with replacement; systems are compared on the same draws, so the difficulty of a draw does
not count as a difference (Efron and Tibshirani 1993, chapters 6, 8 and 13).
"""

import math
from collections.abc import Sequence

import numpy as np

from harness.evidence.statistics import Interval, StandardError

RESAMPLES = 1000
"""Draws of an interval; with another seed its ends move by about a twentieth of its width."""
CONFIDENCE = 0.95


def resampled_correlations(
    gold: np.ndarray,
    similarities: Sequence[np.ndarray],
    *,
    ranked: bool,
    stream: Sequence[int],
    resamples: int = RESAMPLES,
) -> np.ndarray:
    """Returns the correlation of each system's similarities with the gold scores in each draw of the pairs.

    ranked: Spearman's correlation, with mean ranks for ties; otherwise Pearson's. stream: key of the random
    numbers, for example a seed and the bytes of a task's name; equal streams give equal draws.
    Shapes: gold [N], similarities S times [N]; returns [S, resamples]. nan if all values of a draw are equal.
    Errors: ValueError if the lengths differ.
    """
    if any(len(values) != len(gold) for values in similarities):
        raise ValueError(
            f"{[len(values) for values in similarities]} similarities for {len(gold)} gold scores"
        )
    columns = [_Column(np.asarray(values), ranked=ranked) for values in (gold, *similarities)]
    draw = np.random.default_rng(list(stream))
    correlations = np.empty((len(similarities), resamples))
    for number in range(resamples):
        counts = np.bincount(draw.integers(len(gold), size=len(gold)), minlength=len(gold)).astype(float)
        centred = [column.centred(counts) for column in columns]
        lengths = [float(counts @ values**2) for values in centred]
        for system, (values, length) in enumerate(zip(centred[1:], lengths[1:], strict=True)):
            spread = np.sqrt(lengths[0] * length)
            correlations[system, number] = (
                float(counts @ (centred[0] * values)) / spread if spread > 0 else np.nan
            )
    return correlations


class _Column:
    """A list of values, sorted once, so that draws are centred without sorting."""

    def __init__(self, values: np.ndarray, *, ranked: bool) -> None:
        self.values, self.ranked = values.astype(float), ranked
        distinct, self.groups = np.unique(values, return_inverse=True)
        self.distinct = len(distinct)

    def centred(self, counts: np.ndarray) -> np.ndarray:
        """Returns the values, or their ranks in the draw, minus their mean in the draw; [N]."""
        values = self.values
        if self.ranked:
            sizes = np.bincount(self.groups, weights=counts, minlength=self.distinct)
            values = (np.cumsum(sizes) - sizes / 2 + 0.5)[self.groups]
        return np.asarray(values - counts @ values / counts.sum())


def percentile_interval(draws: np.ndarray, confidence: float = CONFIDENCE) -> Interval | None:
    """Returns the percentile interval of the defined draws; None if fewer than half are defined."""
    known = draws[np.isfinite(draws)]
    if 2 * len(known) < len(draws):
        return None
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))


def standard_error(draws: np.ndarray) -> StandardError | None:
    """Returns the standard deviation of the defined draws; None if fewer than half are defined."""
    known = draws[np.isfinite(draws)]
    if 2 * len(known) < len(draws):
        return None
    return StandardError(float(known.std(ddof=1)), math.inf)
