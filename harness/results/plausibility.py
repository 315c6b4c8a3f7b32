"""Checks whether scores can come from a separate run; Legend: m scores, k other runs.

These checks find copies and impossible values. Carefully invented scores pass: only
vectors that are scored again, and a training that is repeated, say more (harness/results/contributions.py).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from harness.errors import InputError
from harness.results.schema import ResultFile, ScoreName, ScoreRecord

COPY = 1e-3
"""Residual, in raw units, at which scores are another run's with a shift, a scale and noise.

Two seeds of the small plan differ by 2.2e-3 at least, two systems by 4.0e-3."""
BLEND = 5e-4
"""The same for a mixture of several seeds of one system: a seed and the others differ by 1.4e-3 at least."""
FEW = 8
"""Below this many common scores a fit says nothing: then equal differences make a copy."""
EQUAL = 1e-6
PATCHWORK, NEAR = 0.5, 0.05
"""Share of scores that may be near one of the other seeds' (honest ones: at most 0.21), and how near, in
standard deviations between these seeds; the more seeds, the nearer it has to be."""
SDS, LEAST_REACH, WIDE = 8.0, 0.05, 0.15
"""How far a score may be from the mean of our seeds: twice its band, SDS standard deviations pooled over
the scores of its metric, since those of one score from three seeds say little, and LEAST_REACH at least.
Without two seeds of ours, WIDE is how far it may be beyond all that is known of its name."""
COMPARABLE = ("spearman", "pearson", "accuracy", "map", "mrr")
"""Metrics that do not differ by orders of magnitude between systems."""
DERIVED = 1e-8
"""How far a mean over subsets may be from the one of the stated subsets: they are rounded."""


class Range(NamedTuple):
    """Where a score is expected, in raw units."""

    low: float
    high: float


def values_of(result: ResultFile) -> dict[ScoreName, float]:
    """Returns the scores of a result by name."""
    return {score.name: score.value for score in result.scores}


def ranges_of(
    result: ResultFile,
    ours: Sequence[ResultFile],
    bands: Mapping[tuple[str, ...], tuple[float, float]],
    reported: Mapping[tuple[str, str], Range],
) -> dict[ScoreName, Range]:
    """Returns the expected ranges of a result's scores, where a range is known.

    ours: the results of this project; bands: theirs, as `harness.results.agreement` computes them, in points.
    reported: what papers print of a task and metric, lowest and highest.
    """
    system = result.run.id, result.run.backbone
    seeds: dict[ScoreName, list[float]] = {}
    everything: dict[ScoreName, list[float]] = {}
    for other in ours:
        for score in other.scores:
            everything.setdefault(score.name, []).append(score.value)
            if (other.run.id, other.run.backbone) == system:
                seeds.setdefault(score.name, []).append(score.value)
    spreads = _pooled_spreads(seeds)
    found = {}
    for name in (score.name for score in result.scores):
        if name.metric not in COMPARABLE:
            continue
        known = [*everything.get(name, ()), *reported.get((name.task, name.metric), ())]
        values, band = seeds.get(name, ()), bands.get((*system, *name))
        if band is not None or len(values) > 1:
            middle = float(np.mean(values))
            banded = 0.0 if band is None else (band[1] - band[0]) / 100
            reach = max(banded, SDS * spreads.get(name.metric, 0.0), LEAST_REACH)
            found[name] = Range(middle - reach, middle + reach)
        elif known:
            found[name] = Range(min(known) - WIDE, max(known) + WIDE)
    return found


def _pooled_spreads(seeds: Mapping[ScoreName, Sequence[float]]) -> dict[str, float]:
    """Returns the standard deviation between seeds by metric, of all scores of it together."""
    variances: dict[str, list[float]] = {}
    for name, values in seeds.items():
        if len(values) > 1:
            variances.setdefault(name.metric, []).append(float(np.var(values, ddof=1)))
    return {metric: float(np.sqrt(np.mean(found))) for metric, found in variances.items()}


def check_ranges(values: Mapping[ScoreName, float], ranges: Mapping[ScoreName, Range]) -> None:
    """Raises InputError for the first score outside the range where it is expected."""
    for name, value in values.items():
        expected = ranges.get(name)
        if expected is not None and not expected.low <= value <= expected.high:
            raise InputError(
                f"{name} is {100 * value:.3f} points, expected {100 * expected.low:.3f} to "
                f"{100 * expected.high:.3f}; check data and installation"
            )


def check_means(result: ResultFile) -> None:
    """Raises InputError if a mean over subsets is not that of the subsets that are stated."""
    subsets: dict[tuple[str, str, str], list[ScoreRecord]] = {}
    for score in result.scores:
        if score.setting.startswith("subset:"):
            subsets.setdefault((score.task, score.metric, score.selection), []).append(score)
    for score in result.scores:
        parts = subsets.get((score.task, score.metric, score.selection))
        if parts is None or score.setting not in ("mean", "wmean"):
            continue
        weights = [part.n if score.setting == "wmean" else 1 for part in parts]
        mean = float(np.average([part.value for part in parts], weights=weights))
        if abs(mean - score.value) > DERIVED:
            raise InputError(
                f"{score.name} is {score.value:.10f}, its subsets give {mean:.10f}; evaluate the run again"
            )


def copied_from(result: ResultFile, others: Sequence[ResultFile]) -> str:
    """Returns the source that the scores of a result are copied from, in words, or an empty text.

    It detects the scores of another run (unchanged, shifted, scaled, or with noise of up to `COPY`), scores
    blended or assembled from several seeds, and one constant value.
    """
    values = values_of(result)
    if len(values) >= FEW and np.ptp(list(values.values())) < COPY:
        return "one value everywhere"
    same_system = []
    for other in others:
        found = values_of(other)
        names = [name for name in values if name in found]
        mine, theirs = (np.array([scores[name] for name in names]) for scores in (values, found))
        if _is_copy(mine, theirs):
            return f"the scores of {other.run.key!r}"
        if (other.run.id, other.run.backbone) == (result.run.id, result.run.backbone):
            same_system.append(found)
    names = [name for name in values if all(name in found for found in same_system)]
    if len(same_system) < 2 or len(names) < FEW:
        return ""
    mine = np.array([values[name] for name in names])
    theirs = np.array([[found[name] for found in same_system] for name in names])  # [m, k]
    if _is_patchwork(mine, theirs) or (
        len(names) >= 4 * (theirs.shape[1] + 1) and _residual(mine, theirs) < BLEND
    ):
        return f"a mixture of the seeds of {result.run.id!r}"
    return ""


def _is_copy(mine: np.ndarray, theirs: np.ndarray) -> bool:
    if len(mine) >= FEW:
        return _residual(mine, theirs[:, None]) < COPY
    return len(mine) > 0 and float(np.ptp(mine - theirs) if len(mine) > 1 else abs(mine - theirs)[0]) < EQUAL


def _residual(mine: np.ndarray, theirs: np.ndarray) -> float:
    """Returns the standard deviation of scores [m] around the best affine function of others [m, k]."""
    terms = np.column_stack([np.ones(len(mine)), theirs])
    fitted, *_ = np.linalg.lstsq(terms, mine, rcond=None)
    left = mine - terms @ fitted
    return float(np.sqrt(left @ left / (len(mine) - terms.shape[1])))


def _is_patchwork(mine: np.ndarray, theirs: np.ndarray) -> bool:
    """Returns whether most scores [m] are, after one common shift, near one of the others' [m, k]."""
    near = np.maximum(1e-4, NEAR * theirs.std(axis=1, ddof=1))[:, None] * min(1.0, 3 / theirs.shape[1])
    rows = np.linspace(0, len(mine) - 1, num=min(len(mine), 16), dtype=int)
    shifts = [0.0, *(mine[rows, None] - theirs[rows]).ravel()]
    hits = (abs(mine[:, None] - theirs - shift) <= near for shift in shifts)
    return any(hit.any(axis=1).mean() >= PATCHWORK for hit in hits)
