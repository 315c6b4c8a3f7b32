"""Intervals of correlations over the pairs of a test set, and of their differences between two systems.

The pairs are drawn again with replacement; systems are compared on the same draws, so that what makes a
set of pairs easy or hard for both of them is no difference (Efron and Tibshirani 1993, chapters 8 and 13).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from harness.facts.intervals import Interval, student

RESAMPLES = 1000
"""Draws behind an interval: its ends then move by about a twentieth of its width with another seed."""
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

    ranked: Spearman's correlation, tied values sharing their mean rank; else Pearson's. stream: what keys the
    random numbers, for example a seed and the bytes of a task's name; equal streams give equal draws.
    Shapes: gold [N], similarities S times [N]; returns [S, resamples]. nan where a draw has one value alone.
    Errors: ValueError if the lengths differ.
    """
    if any(len(values) != len(gold) for values in similarities):
        raise ValueError(
            f"{[len(values) for values in similarities]} similarities for {len(gold)} gold scores"
        )
    columns = [_Column(np.asarray(values), ranked=ranked) for values in (gold, *similarities)]
    draw = np.random.default_rng(list(stream))
    found = np.empty((len(similarities), resamples))
    for number in range(resamples):
        counts = np.bincount(draw.integers(len(gold), size=len(gold)), minlength=len(gold)).astype(float)
        centred = [column.centred(counts) for column in columns]
        lengths = [float(counts @ values**2) for values in centred]
        for system, (values, length) in enumerate(zip(centred[1:], lengths[1:], strict=True)):
            spread = np.sqrt(lengths[0] * length)
            found[system, number] = float(counts @ (centred[0] * values)) / spread if spread > 0 else np.nan
    return found


class _Column:
    """One list of values, sorted once, of which any draw is centred without sorting again."""

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


def multibootstrap(differences: np.ndarray, *, stream: Sequence[int]) -> np.ndarray:
    """Returns the mean difference in each draw of both seeds and pairs; [resamples].

    differences: of each paired seed in each draw of the pairs, [seeds, resamples]; all seeds
    have the same pairs. Source: Sellam et al. 2022 (MultiBERTs), section 3. It needs two seeds. Drawing few
    seeds again shows too little of their variance: their part of a draw is stretched to Student's quantile.
    """
    seeds, resamples = differences.shape
    drawn = np.random.default_rng([*stream, seeds]).integers(seeds, size=(seeds, resamples))
    middle = differences.mean(axis=0)
    by_seeds = differences[drawn, np.arange(resamples)].mean(axis=0) - middle
    normal = special.ndtri((1 + CONFIDENCE) / 2)
    stretch = np.sqrt(seeds / (seeds - 1)) * student(seeds - 1, CONFIDENCE) / normal
    return np.asarray(middle + stretch * by_seeds)


def percentile_interval(draws: np.ndarray, confidence: float = CONFIDENCE) -> Interval | None:
    """Returns the middle part of the draws that are defined; None where fewer than half of them are."""
    known = draws[np.isfinite(draws)]
    if 2 * len(known) < len(draws):
        return None
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))
