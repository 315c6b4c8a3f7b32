"""Comparisons of systems: ranks, claims, false-discovery control, and the bootstrap over pairs of a test set.

Pairs are resampled with replacement; systems are compared on the same draws, so the difficulty of a draw does
not count as a difference (Efron and Tibshirani 1993, chapters 8 and 13).
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
from scipy import special

from harness.evidence import statistics
from harness.evidence.number_tests import LEVEL, TWO_SIDED_AT_A_LOOK, look_of
from harness.evidence.statistics import Interval, WelchComparison, student

Claimed = Literal["supported", "contradicted", "inconclusive"]
RESAMPLES = 1000
"""Draws of an interval; with another seed its ends move by about a twentieth of its width."""
CONFIDENCE = 0.95


def surviving(p: Sequence[float]) -> list[bool]:
    """Returns whether each "does not replicate" holds at the false-discovery rate LEVEL
    (Benjamini-Hochberg)."""
    if not p:
        return []
    from scipy.stats import false_discovery_control  # takes a second to import

    return [bool(value <= LEVEL) for value in false_discovery_control(p)]


def rank_intervals(
    groups: Sequence[Sequence[float]], exact: Sequence[bool], *, lower_is_better: bool = False
) -> list[tuple[int, int]]:
    """Returns the range of possible ranks of each system, 1 the best. A system may be the best unless
    another one is shown to be better. Two systems are distinguished by Tukey's range at LEVEL, so the
    ranks of all systems hold jointly. The difference of two systems without random draws is exact.
    """
    means, apart = mean_differences(groups, exact)
    above = apart & (means[:, None] > means)  # [i, j]: i is shown to be above j
    better, worse = above.sum(axis=0), above.sum(axis=1)
    if lower_is_better:
        better, worse = worse, better
    return [(1 + int(above), len(groups) - int(below)) for above, below in zip(better, worse, strict=True)]


def mean_differences(
    groups: Sequence[Sequence[float]], exact: Sequence[bool]
) -> tuple[np.ndarray, np.ndarray]:
    """Returns means [N], and the mask of pairs of systems that differ by more than Tukey's range [N, N].

    exact: whether a system has no random draws and thus no error. The standard deviation is pooled over the
    seeds of all others, also for a system with one seed (Kramer 1956 for unequal numbers); if no system has
    two seeds, only exact systems are distinguished. Two systems that vary more than the pool use their own
    variance. A pair with seeds on both sides must also differ by Welch's test at LEVEL, which has no p if a
    side has no variance.
    """
    means, sizes = np.array([[statistics.mean(group), len(group)] for group in groups]).T
    size, fixed = np.abs(means[:, None] - means), np.array(exact, dtype=bool)
    both_fixed = fixed[:, None] & fixed
    varying = [group for group, still in zip(groups, exact, strict=True) if not still]
    pooled, freedom = pooled_variance(varying)
    if not freedom:
        return means, both_fixed & (size > 1e-9)
    sds = np.where(fixed, 0.0, [statistics.sample_sd(group) or 0.0 for group in groups])
    parts, own_variance = np.where(fixed, 0.0, 1 / sizes), sds**2 / sizes
    p = _welch(means, sds, np.where(fixed, np.maximum(sizes, 2), sizes))
    error = np.sqrt(np.maximum(pooled * (parts[:, None] + parts), own_variance[:, None] + own_variance) / 2)
    apart = ~(p >= LEVEL) & (size > critical_range(len(groups), freedom) * error)
    return means, np.where(both_fixed, size > 1e-9, apart)


def _welch(means: np.ndarray, sds: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Returns the p-values of Welch's test of each pair [N, N], nan if a side has one seed."""
    from scipy.stats import ttest_ind_from_stats  # takes a second to import

    one = means[:, None], sds[:, None], sizes[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(ttest_ind_from_stats(*one, means, sds, sizes, False).pvalue)


def pooled_variance(groups: Sequence[Sequence[float]]) -> tuple[float, int]:
    """Returns the variance within groups, with its degrees of freedom; 0 if no group has two values."""
    freedom = sum(len(group) - 1 for group in groups)
    squares = math.fsum((len(group) - 1) * (statistics.sample_sd(group) or 0.0) ** 2 for group in groups)
    return (squares / freedom, freedom) if freedom else (0.0, 0)


@cache
def critical_range(groups: int, freedom: int, level: float = LEVEL) -> float:
    """Returns the range of the means, in standard errors, that is exceeded with probability `level`; off by
    1e-9 at most.

    Bonferroni's bound over all pairs is above it, and the search begins there.
    """
    from scipy.optimize import brentq
    from scipy.stats import studentized_range  # takes a second to import

    bound = math.sqrt(2) * student(freedom, 1 - 2 * level / (groups * (groups - 1)))

    def excess(size: float) -> float:
        return float(studentized_range.sf(size, groups, freedom)) - level

    below = 0.9 * bound
    while excess(below) < 0:
        below *= 0.9
    return float(brentq(excess, below, 1.0001 * bound, xtol=1e-9, rtol=1e-12))


class Pair(NamedTuple):
    """Scores of two systems for a claim: the first is above, or with a margin, both are equal within it."""

    ours: Sequence[float]
    theirs: Sequence[float]
    margin: float = 0.0


def claimed(comparison: WelchComparison | None, *, margin: float = 0.0) -> Claimed:
    """Returns the answer of a comparison to the claim that the first is above the second.

    Supported or contradicted: the interval is entirely above or below 0; for a claim of equality within a
    nonzero margin, entirely inside or outside of it.
    """
    if comparison is None:
        return "inconclusive"
    if margin:
        if -margin <= comparison.low and comparison.high <= margin:
            return "supported"
        return "contradicted" if comparison.low > margin or comparison.high < -margin else "inconclusive"
    if comparison.low <= 0 <= comparison.high:
        return "inconclusive"
    return "supported" if comparison.low > 0 else "contradicted"


def claimed_among_many(pairs: Sequence[Pair]) -> list[tuple[WelchComparison | None, Claimed]]:
    """Returns Welch's tests of many pairs and the answers to their claims, with the false-discovery rate at
    LEVEL. The seeds up to the last common look count; before the first look there is no test.

    Benjamini-Hochberg on intervals: among the pairs that reached a look, the largest share is answered whose
    answers all hold at the level of a look times that share. The intervals have that level (Benjamini and
    Yekutieli 2005).
    """
    share = 1.0
    looks = [look_of(min(len(pair.ours), len(pair.theirs))) for pair in pairs]
    while True:
        comparisons = [
            statistics.compare_seeds(
                pair.ours[:look], pair.theirs[:look], confidence=1 - share * TWO_SIDED_AT_A_LOOK
            )
            for pair, look in zip(pairs, looks, strict=True)
        ]
        answers = [
            claimed(comparison, margin=pair.margin)
            for comparison, pair in zip(comparisons, pairs, strict=True)
        ]
        answered = sum(answer != "inconclusive" for answer in answers)
        tested = sum(comparison is not None for comparison in comparisons)
        if not answered or answered >= share * tested:
            return list(zip(comparisons, answers, strict=True))
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


def multibootstrap(
    differences: np.ndarray, *, stream: Sequence[int], confidence: float = CONFIDENCE
) -> np.ndarray:
    """Returns the mean difference in each draw of both seeds and pairs; [resamples].

    differences: of each paired seed in each draw of the pairs, [seeds, resamples]; all seeds have the same
    pairs.
    Source: Sellam et al. 2022 (MultiBERTs), section 3. It needs two seeds. Resampling few seeds
    underestimates their variance, so their part of a draw is scaled to Student's quantile for this
    confidence.
    """
    seeds, resamples = differences.shape
    drawn = np.random.default_rng([*stream, seeds]).integers(seeds, size=(seeds, resamples))
    middle = differences.mean(axis=0)
    by_seeds = differences[drawn, np.arange(resamples)].mean(axis=0) - middle
    normal = special.ndtri((1 + confidence) / 2)
    stretch = np.sqrt(seeds / (seeds - 1)) * student(seeds - 1, confidence) / normal
    return np.asarray(middle + stretch * by_seeds)


def percentile_interval(draws: np.ndarray, confidence: float = CONFIDENCE) -> Interval | None:
    """Returns the percentile interval of the defined draws; None if fewer than half are defined."""
    known = draws[np.isfinite(draws)]
    if 2 * len(known) < len(draws):
        return None
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))
