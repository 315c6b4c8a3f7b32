"""Comparisons of systems and of two versions of one: ranks, claims, false-discovery control, noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from scipy import special

from harness.facts import statistics
from harness.facts.statistics import Comparison
from harness.facts.verdicts import AT_A_LOOK, LEVEL, look_of

Claimed = Literal["supported", "contradicted", "inconclusive"]


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
    groups: Sequence[Sequence[float] | None], exact: Sequence[bool], *, lower_is_better: bool = False
) -> list[tuple[int, int] | None]:
    """Returns the ranks that each system may have, 1 the best; None for one without a score.

    A system of which nothing is shown to be better may be the best. Pairwise Welch tests over seeds with
    Holm's adjustment at LEVEL, so the ranks of all systems hold together. A single run of a trained system
    is never told apart from another trained one; of two systems without random draws the difference is exact.
    """
    known = [index for index, group in enumerate(groups) if group]
    means, p = _differences([groups[index] or () for index in known], [exact[index] for index in known])
    first, second = np.tril_indices(len(known), -1)
    order = np.argsort(p[first, second], kind="stable")
    first, second = first[order], second[order]
    adjusted = np.maximum.accumulate(p[first, second] * (len(order) - np.arange(len(order))))
    apart = np.zeros((len(known), len(known)), dtype=bool)
    apart[first[adjusted < LEVEL], second[adjusted < LEVEL]] = True
    above = (apart | apart.T) & (means[:, None] > means)  # [i, j]: i is shown to be above j
    better, worse = above.sum(axis=0), above.sum(axis=1)
    if lower_is_better:
        better, worse = worse, better
    found: list[tuple[int, int] | None] = [None] * len(groups)
    for place, index in enumerate(known):
        found[index] = 1 + int(better[place]), len(known) - int(worse[place])
    return found


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


Noise = Literal["seeds", "test set"]
"""Where the noise of a change comes from."""


def noise_of(
    before: Sequence[float], after: Sequence[float], *, metric: str, pairs: int
) -> tuple[float, Noise]:
    """Returns the half-width of the 95 % interval of a change of means that only noise makes, and its kind.

    seeds, where both sides have two: Student's quantile with n + m - 2 degrees of freedom times
    s sqrt(1/n + 1/m), s the standard deviation pooled over both sides.
    test set, where a side has one: 1.96 standard errors of one score if its test items were drawn again. Both
    sides see the same items, so this errs towards calling a change noise.
    """
    n, m = len(before), len(after)
    if min(n, m) < 2:
        return 1.96 * sampling_error(statistics.mean([*before, *after]), pairs, metric=metric), "test set"
    squares = [((statistics.sample_sd(side) or 0.0) ** 2) * (len(side) - 1) for side in (before, after)]
    pooled = math.sqrt(sum(squares) / (n + m - 2))
    return float(special.stdtrit(n + m - 2, 0.975)) * pooled * math.sqrt(1 / n + 1 / m), "seeds"


def sampling_error(value: float, items: int, *, metric: str) -> float:
    """Returns the standard error of a score over its test items.

    Spearman: (1 - r^2) sqrt((1 + r^2 / 2) / (n - 3)) (Bonett and Wright 2000). Accuracy: that of a share,
    sqrt(p (1 - p) / n). Mean average precision has no closed form; the share's error bounds it.
    """
    if metric == "spearman":
        return (1 - value**2) * math.sqrt((1 + value**2 / 2) / max(1, items - 3))
    return math.sqrt(max(0.0, value * (1 - value)) / items)
