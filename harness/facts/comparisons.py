"""Comparisons of systems: ranks, claims, false-discovery control, and the bootstrap over pairs of a test set.

The pairs are drawn again with replacement; systems are compared on the same draws, so that what makes a
set of pairs easy or hard for both of them is no difference (Efron and Tibshirani 1993, chapters 8 and 13).
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy import special

from harness.facts import statistics
from harness.facts.statistics import Comparison, Interval, student
from harness.facts.verdicts import AT_A_LOOK, LEVEL, look_of

Claimed = Literal["supported", "contradicted", "inconclusive"]
RESAMPLES = 1000
"""Draws behind an interval: its ends then move by about a twentieth of its width with another seed."""
CONFIDENCE = 0.95


def surviving(p: Sequence[float]) -> list[bool]:
    """Returns which "does not replicate" hold at the false-discovery rate LEVEL (Benjamini-Hochberg)."""
    if not p:
        return []
    from scipy.stats import false_discovery_control  # takes a second to import

    return [bool(one <= LEVEL) for one in false_discovery_control(p)]


def _differences(groups: Sequence[Sequence[float]], exact: Sequence[bool]) -> tuple[np.ndarray, np.ndarray]:
    """Returns means [N] and the two-sided p-values of Welch's tests of all pairs [N, N], 1 where none is due.

    A system without random draws has no error. Two means without error differ, or are the same within 1e-9.
    """
    means = np.array([np.mean(group) for group in groups])
    sizes = np.array([len(group) for group in groups])
    fixed = np.array(exact, dtype=bool)
    spread = [statistics.sample_sd(group) or 0.0 for group in groups]
    error = np.where(fixed, 0.0, np.square(spread) / np.maximum(sizes, 1))
    of_freedom = error**2 / np.maximum(sizes - 1, 1)
    both = error[:, None] + error
    size = np.abs(means[:, None] - means)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = both**2 / (of_freedom[:, None] + of_freedom)
        p = 2 * special.stdtr(freedom, -size / np.sqrt(both))
    p = np.where(both > 0, p, size <= 1e-9)
    alone = (sizes < 2) & ~fixed
    return means, np.where(alone[:, None] | alone, 1.0, p)


def rank_intervals(
    groups: Sequence[Sequence[float]], exact: Sequence[bool], *, lower_is_better: bool = False
) -> list[tuple[int, int]]:
    """Returns the ranks that each system may have, 1 the best.

    A system of which nothing is shown to be better may be the best. Pairwise Welch tests over seeds with
    Holm's adjustment at LEVEL, so the ranks of all systems hold together. A single run of a trained system
    is never told apart from another trained one; of two systems without random draws the difference is exact.
    """
    means, p = _differences(groups, exact)
    first, second = np.tril_indices(len(groups), -1)
    order = np.argsort(p[first, second], kind="stable")
    first, second = first[order], second[order]
    adjusted = np.maximum.accumulate(p[first, second] * (len(order) - np.arange(len(order))))
    apart = np.zeros_like(p, dtype=bool)
    apart[first[adjusted < LEVEL], second[adjusted < LEVEL]] = True
    above = (apart | apart.T) & (means[:, None] > means)  # [i, j]: i is shown to be above j
    better, worse = above.sum(axis=0), above.sum(axis=1)
    if lower_is_better:
        better, worse = worse, better
    return [(1 + int(above), len(groups) - int(below)) for above, below in zip(better, worse, strict=True)]


class Pair(NamedTuple):
    """Scores of two systems, the first said to be above; with a margin, said to be the same within it."""

    ours: Sequence[float]
    theirs: Sequence[float]
    margin: float = 0.0


def claimed(found: Comparison | None, *, margin: float = 0.0) -> Claimed:
    """Returns what a comparison says of a claim that the first is above the second.

    Supported or contradicted: the interval is wholly above or below 0; of a claim that both are the same
    within a margin that is not 0, wholly inside or outside of it.
    """
    if found is None:
        return "inconclusive"
    if margin:
        if -margin <= found.low and found.high <= margin:
            return "supported"
        return "contradicted" if found.low > margin or found.high < -margin else "inconclusive"
    if found.low <= 0 <= found.high:
        return "inconclusive"
    return "supported" if found.low > 0 else "contradicted"


def claimed_among_many(pairs: Sequence[Pair]) -> list[tuple[Comparison | None, Claimed]]:
    """Returns Welch's tests of many pairs and what they say of their claims, with the false-discovery rate at
    LEVEL; the seeds up to the last common look count, before the first look there is no test.

    Benjamini-Hochberg, through intervals: of the pairs that reached a look the largest share is answered
    whose answers all hold at the level of a look times that share, and the intervals have that level
    (Benjamini and Yekutieli 2005).
    """
    share = 1.0
    looks = [look_of(min(len(pair.ours), len(pair.theirs))) for pair in pairs]
    while True:
        found = [
            statistics.compare_seeds(pair.ours[:look], pair.theirs[:look], confidence=1 - share * AT_A_LOOK)
            for pair, look in zip(pairs, looks, strict=True)
        ]
        answers = [claimed(one, margin=pair.margin) for one, pair in zip(found, pairs, strict=True)]
        answered = sum(answer != "inconclusive" for answer in answers)
        tested = sum(one is not None for one in found)
        if not answered or answered >= share * tested:
            return list(zip(found, answers, strict=True))
        share = answered / tested


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
