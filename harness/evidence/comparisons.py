"""Comparisons of many systems: ranks, claims, and false-discovery control."""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from harness.evidence import statistics
from harness.evidence.differences import difference_of, holm
from harness.evidence.number_tests import LEVEL, TWO_SIDED_AT_A_LOOK, look_of
from harness.evidence.statistics import ROUNDING, WelchComparison

Claimed = Literal["supported", "contradicted", "inconclusive"]


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
    another one is shown to be better. All pairs of systems are compared at LEVEL together, so the ranks of
    all systems hold jointly. The difference of two systems without random draws is exact.
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
    """Returns means [N], and the mask of pairs of systems that are shown to differ [N, N], by Welch's tests
    of all pairs with Holm's steps. (Games and Howell's test finds more, but with three seeds of the committed
    variances it errs in a quarter of all tables.)

    exact: whether a system has no random draws and thus no error. Any other system with one value has an
    unknown error and is apart from none.
    """
    sides = [
        dict(enumerate(group[:1] if still else group)) for group, still in zip(groups, exact, strict=True)
    ]
    apart = np.zeros((len(sides), len(sides)), dtype=bool)
    tested: dict[tuple[int, int], float] = {}
    for i, j in combinations(range(len(sides)), 2):
        still = exact[i], exact[j]
        difference = difference_of(sides[i], sides[j], exact=still)
        if all(still):
            apart[i, j] = apart[j, i] = abs(difference.difference) > ROUNDING
        else:
            tested[i, j] = difference.p
    for (i, j), level in zip(tested, holm([*tested.values()]), strict=True):
        apart[i, j] = apart[j, i] = tested[i, j] < level
    return np.array([statistics.mean([*side.values()]) for side in sides]), apart


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
