"""Number of seeds for a comparison on the page of claims, planned from the recorded standard deviation over
seeds.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.evidence import statistics
from harness.evidence.comparisons import look_that_shows
from harness.evidence.ledger import load_ledger
from harness.evidence.number_tests import LOOKS
from harness.evidence.others import backbone_sd
from harness.evidence.published import load_published
from harness.evidence.schema import ResultFile, ScoreRecord
from harness.evidence.statistics import KnownSd
from harness.evidence.store import read_results
from harness.paths import LEADERBOARDS, declared
from harness.plan.entries import Params

DEV = "STSB-dev"
PRIOR_FREEDOM = 4
"""Degrees of freedom given to the pool of a backbone, next to a system's own seeds."""


class PlannedSd(NamedTuple):
    """A standard deviation in points, and its source."""

    sd: float
    source: str


def propose_seeds(params: Params, scores: Path, *, power: float, delta: float) -> str:
    """Returns a table of the number of seeds that each system needs to detect a difference of `delta` points.

    scores: folder of the result files. A system without training keeps its single seed.
    """
    results = read_results(scores.glob("*.json"), kept=lambda run, score: _of_a_test_set(score))
    scores_of_ours = seed_scores(results)
    ledger = load_ledger(declared(LEADERBOARDS / "evidence"), load_published())
    planned = Counter((run.id, run.backbone_name) for run in params.runs.values())
    trained = {(run.id, run.backbone_name) for run in params.runs.values() if run.train["steps"] != 0}
    lines = [
        f"seeds a side that show a true difference of {delta:g} points with power {power:g} "
        f"(two-sided t test at a look, after {', '.join(map(str, LOOKS))} seeds; one claim alone):",
        _line("system", "backbone", "planned", "needed", "sd of the mean correlation"),
    ]
    for (system, backbone), seeds in planned.items():
        pool: PlannedSd | None = PlannedSd(0.0, "not trained")
        if (system, backbone) in trained:
            same = [scores for (_, name), scores in scores_of_ours.items() if name == backbone]
            shared = pool_of(same, backbone_sd(ledger, backbone, "Avg"))
            pool = shrunk(scores_of_ours.get((system, backbone), ()), shared)
        needed, basis = "?", "not known: run two seeds first"
        if pool is not None:
            look = look_that_shows(delta, pool.sd, power) if pool.sd else 1
            needed = str(look) if look is not None else f"> {LOOKS[-1]}"
            basis = f"{pool.sd:.2f} {pool.source}"
        lines.append(_line(system, backbone, seeds, needed, basis))
    return "\n".join([*lines, "`--seeds N` plans N seeds for every trained system"])


def seed_scores(results: Sequence[ResultFile]) -> dict[tuple[str, str], list[float]]:
    """Returns the mean test correlations of trained runs by system and backbone, in points."""
    by_system: dict[tuple[str, str], list[float]] = {}
    for result in results:
        values = [score.value for score in result.scores if _of_a_test_set(score)]
        if values and result.selection.last_step > 0:
            scores = by_system.setdefault((result.run.id, result.run.backbone), [])
            scores.append(100 * statistics.mean(values))
    return by_system


def shrunk(values: Sequence[float], pool: PlannedSd | None) -> PlannedSd | None:
    """Returns the sd of a system, shrunk towards the sd of its backbone by degrees of freedom.

    The pool counts as PRIOR_FREEDOM degrees of freedom, our n seeds as n - 1: variances are averaged with
    these weights. Without a pool the system needs two seeds.
    """
    sd = statistics.sample_sd(values)
    if sd is None:
        return pool
    freedom, prior = len(values) - 1, 0 if pool is None else PRIOR_FREEDOM
    variance = (freedom * sd**2 + prior * (pool.sd**2 if pool is not None else 0.0)) / (freedom + prior)
    basis = f"{sd:.2f} over its {len(values)} seeds"
    if pool is not None:
        basis += f", shrunk to {pool.sd:.2f} {pool.source}"
    return PlannedSd(math.sqrt(variance), basis)


def pool_of(groups: Iterable[Sequence[float]], study: KnownSd | None) -> PlannedSd | None:
    """Returns the sd between the seeds of a backbone, None if unknown.

    groups: the scores of each of its systems; their variances are averaged, weighted by n - 1. study: the sd
    of a larger study. It is used if no system has two seeds, or if fewer than `SMALL_SAMPLE` seeds show a
    smaller sd.
    """
    squares, freedom, seeds = 0.0, 0, 0
    for values in groups:
        sd = statistics.sample_sd(values)
        if sd is not None:
            squares += (len(values) - 1) * sd**2
            freedom += len(values) - 1
            seeds += len(values)
    pooled = PlannedSd(math.sqrt(squares / freedom), f"pooled over {seeds} of our seeds") if freedom else None
    if study is None or (pooled is not None and (seeds >= statistics.SMALL_SAMPLE or pooled.sd >= study.sd)):
        return pooled
    return PlannedSd(study.sd, f"in a public study of {study.n} seeds")


def _of_a_test_set(score: ScoreRecord) -> bool:
    name = (score.metric, score.setting, score.selection)
    return name == ("spearman", "all", "best-dev") and score.task != DEV


def _line(system: str, backbone: str, planned: object, needed: object, basis: str) -> str:
    return f"{system:<28} {backbone:<20} {planned:>7} {needed:>7}  {basis}"
