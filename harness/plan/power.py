"""How many seeds a comparison needs: two-sided Welch tests, planned from the standard deviation of seeds on
record.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.facts import statistics
from harness.facts.evidence.ledger import load_ledger
from harness.facts.evidence.others import backbone_sd
from harness.facts.published import load_published
from harness.facts.statistics import KnownSd
from harness.paths import LEADERBOARDS, declared
from harness.plan.entries import Params
from harness.results.schema import ResultFile, ScoreRecord
from harness.results.store import read_results

DEV = "STSB-dev"
PRIOR_FREEDOM = 4
"""Degrees of freedom that the pool of a backbone counts as, next to a system's own seeds."""


class Pool(NamedTuple):
    """A standard deviation in points, and where it comes from."""

    sd: float
    source: str


def propose_seeds(params: Params, scores: Path, *, power: float, delta: float) -> str:
    """Returns a table of the seeds that each system needs compared with another one, for a difference of
    `delta`.

    scores: folder of the result files. A system that is not trained keeps its one seed.
    """
    backbones = {run.backbone_name for run in params.runs.values()}
    results = read_results(scores.glob("*.json"), kept=lambda run, score: _of_a_test_set(score))
    own = seed_scores(results)
    pools = pooled_spreads(own, studied_sds(backbones))
    seeds: dict[tuple[str, str], int] = {}
    for run in params.runs.values():
        seeds[run.id, run.backbone_name] = seeds.get((run.id, run.backbone_name), 0) + 1
    trained = {(run.id, run.backbone_name) for run in params.runs.values() if run.train["steps"] != 0}
    lines = [
        f"seeds a side that show a true difference of {delta:g} points with power {power:g} "
        "(two-sided Welch test, 5 %):",
        _line("system", "backbone", "planned", "needed", "sd of the mean correlation"),
    ]
    for (system, backbone), planned in seeds.items():
        pool = (
            shrunk(own.get((system, backbone), ()), pools.get(backbone))
            if (system, backbone) in trained
            else Pool(0.0, "not trained")
        )
        needed = "?" if pool is None else str(seeds_for(pool.sd, power=power, delta=delta))
        basis = "not known: run two seeds first" if pool is None else f"{pool.sd:.2f} {pool.source}"
        lines.append(_line(system, backbone, planned, needed, basis))
    return "\n".join([*lines, "`--seeds N` plans N seeds for every trained system"])


def studied_sds(backbones: Iterable[str]) -> dict[str, KnownSd]:
    """Returns the standard deviation of the mean of the STS sets in the largest study of each backbone that
    has one.
    """
    ledger = load_ledger(declared(LEADERBOARDS / "evidence"), load_published())
    found = {backbone: backbone_sd(ledger, backbone, "Avg") for backbone in sorted(backbones)}
    return {backbone: spread for backbone, spread in found.items() if spread is not None}


def seeds_for(sd: float, *, power: float, delta: float) -> int:
    """Returns the seeds a side: Student's test, as Welch's is at equal sd and n. 1 where nothing varies."""
    return 1 if sd == 0 else statistics.seeds_needed(delta, sd, target=power)


def seed_scores(results: Sequence[ResultFile]) -> dict[tuple[str, str], list[float]]:
    """Returns the mean correlations of the runs of every trained system by system and backbone, in points."""
    found: dict[tuple[str, str], list[float]] = {}
    for result in results:
        score = mean_correlation(result)
        if score is not None and result.selection.last_step > 0:
            found.setdefault((result.run.id, result.run.backbone), []).append(100 * score)
    return found


def shrunk(values: Sequence[float], pool: Pool | None) -> Pool | None:
    """Returns the sd of a system itself, shrunk towards that of its backbone by degrees of freedom.

    The pool counts as PRIOR_FREEDOM degrees of freedom, our n seeds as n - 1: variances are averaged with
    these weights. Without a pool two seeds of its own are needed.
    """
    sd = statistics.sample_sd(values)
    if sd is None:
        return pool
    own, prior = len(values) - 1, 0 if pool is None else PRIOR_FREEDOM
    variance = (own * sd**2 + prior * (pool.sd**2 if pool is not None else 0.0)) / (own + prior)
    basis = f"its own {sd:.2f} over {len(values)} seeds"
    if pool is not None:
        basis += f", shrunk to {pool.sd:.2f} {pool.source}"
    return Pool(math.sqrt(variance), basis)


def pooled_spreads(
    scores: Mapping[tuple[str, str], Sequence[float]], known: Mapping[str, KnownSd]
) -> dict[str, Pool]:
    """Returns the sd between seeds by backbone, pooled over its systems with two seeds or more.

    scores: as `seed_scores`. known: the standard deviation that a larger study gives, by backbone. Backbones
    that were not run, or that show less with fewer than `SMALL_SAMPLE` seeds, have it.
    """
    values: dict[str, dict[str, Sequence[float]]] = {}
    for (system, backbone), found in scores.items():
        values.setdefault(backbone, {})[system] = found
    pools = {}
    for backbone in dict.fromkeys([*values, *known]):
        own = pooled_sd(values.get(backbone, {}).values())
        study = None
        if backbone in known:
            study = Pool(known[backbone].sd, f"in a public study of {known[backbone].n} seeds")
        if own is not None and (study is None or own[1] >= statistics.SMALL_SAMPLE or own[0] >= study.sd):
            pools[backbone] = Pool(own[0], f"pooled over {own[1]} seeds of ours")
        elif study is not None:
            pools[backbone] = study
    return pools


def pooled_sd(groups: Iterable[Sequence[float]]) -> tuple[float, int] | None:
    """Returns the root mean variance, weighted by n - 1, and the number of seeds; None without a pair."""
    squares, freedom, seeds = 0.0, 0, 0
    for values in groups:
        sd = statistics.sample_sd(values)
        if sd is not None:
            squares += (len(values) - 1) * sd**2
            freedom += len(values) - 1
            seeds += len(values)
    return (math.sqrt(squares / freedom), seeds) if freedom else None


def mean_correlation(result: ResultFile) -> float | None:
    """Returns the mean Spearman correlation of a run's test sets, None if it was scored on none."""
    values = [score.value for score in result.scores if _of_a_test_set(score)]
    return statistics.mean(values) if values else None


def _of_a_test_set(score: ScoreRecord) -> bool:
    name = (score.metric, score.setting, score.selection)
    return name == ("spearman", "all", "best-dev") and score.task != DEV


def _line(system: str, backbone: str, planned: object, needed: object, basis: str) -> str:
    return f"{system:<28} {backbone:<20} {planned:>7} {needed:>7}  {basis}"
