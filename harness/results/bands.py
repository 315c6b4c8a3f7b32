"""Bands: the scores that one system may have on one task, computed from results that are known to be good.

A band is the mean over the seeds plus and minus the larger of SDS sample standard deviations and FLOOR
points; one seed has FLOOR alone. A score above its band fails like one below: both show that a change moved a
number. With at most 26 seeds none of the scores that a band is computed from can lie outside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from harness.results.frame import to_frame
from harness.results.schema import ResultFile

SDS = 5.0
FLOOR = 0.5
GROUP = ["id", "backbone", "task", "metric", "setting", "selection"]
WATCHED = {"metric": ["spearman", "accuracy", "map"], "setting": ["all"]}


class Band(NamedTuple):
    """The scores in points that one system may have on one task."""

    low: float
    high: float


Bands = dict[tuple[str, ...], Band]
"""Values of GROUP -> the band."""


def watched(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the scores that have bands."""
    chosen = frame["metric"].isin(WATCHED["metric"]) & frame["setting"].isin(WATCHED["setting"])
    return frame[chosen]


def bands_of(results: Iterable[ResultFile]) -> Bands:
    """Returns the band of each system on each task that results have watched scores of."""
    groups: Any = watched(to_frame(results)).groupby(GROUP)["value"]
    found = {}
    for key, values in groups:
        points = 100 * values
        spread = float(points.std(ddof=1)) if len(points) > 1 else 0.0
        reach = max(SDS * spread, FLOOR)
        found[key] = Band(round(float(points.mean()) - reach, 3), round(float(points.mean()) + reach, 3))
    return found


def outside(bands: Mapping[tuple[str, ...], Band], results: Iterable[ResultFile]) -> list[str]:
    """Returns one line for every run outside its band and for every band without a run."""
    scores: Any = watched(to_frame(results)).groupby(GROUP)
    problems = []
    for key, (low, high) in bands.items():
        label, expected = " ".join(key[:-1]), f"{low} to {high}"
        if key not in scores.indices:
            problems.append(f"missing  {label}: no score, expected {expected}")
            continue
        mine = scores.get_group(key)
        for seed, value in zip(mine["seed"], 100 * mine["value"], strict=True):
            if not low <= value <= high:
                side = "low" if value < low else "high"
                problems.append(f"too {side:<4} {label} seed {seed}: {value:.3f}, expected {expected}")
    return problems
