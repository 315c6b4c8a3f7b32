"""Bands: the accepted scores of one system on one task.

For every system, task, metric and setting, a band is the mean over the seeds plus and minus the larger of
SPREADS sample standard deviations and FLOOR points; a system without random numbers has FLOOR alone. A score
above its band fails like one below: both show that a change moved a number.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import Field, model_validator

from harness.declarations import Declaration, read_declaration
from harness.errors import InputError

SPREADS = 5.0
FLOOR = 0.5
GROUP = ["id", "backbone", "task", "metric", "setting", "selection"]
WATCHED = {"metric": ["spearman", "accuracy", "map"], "setting": ["all"]}


class Band(Declaration):
    """The accepted scores of one system on one task, in points; `runs` and `mean`: how it was measured."""

    id: str
    backbone: str
    task: str
    metric: str
    setting: str
    selection: str
    runs: int
    mean: float
    low: float
    high: float

    @model_validator(mode="after")
    def check(self) -> Band:
        """Checks that low is below high."""
        if self.low > self.high:
            raise ValueError(f"low {self.low:g} is above high {self.high:g}")
        return self


class Bands(Declaration):
    """The file `bands.yaml`."""

    bands: list[Band] = Field(min_length=1)


def watched(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the scores that have bands."""
    chosen = frame["metric"].isin(WATCHED["metric"]) & frame["setting"].isin(WATCHED["setting"])
    return frame[chosen]


def band(names: dict[str, Any], group: pd.DataFrame) -> Band:
    """Returns the band of one system and task in points."""
    points = 100 * group["value"]
    spread = float(points.std(ddof=1)) if len(points) > 1 else 0.0
    reach = max(SPREADS * spread, FLOOR)
    mean = float(points.mean())
    return Band(
        **names,
        runs=len(points),
        mean=round(mean, 3),
        low=round(mean - reach, 3),
        high=round(mean + reach, 3),
    )


def read_bands(path: Path) -> list[Band]:
    """Returns the bands of a file; InputError in one line if it is missing or a band is wrong."""
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected bands; write them with `sentbench check --measure`")
    return read_declaration(path, Bands).bands


def outside(bands: list[Band], frame: pd.DataFrame) -> list[str]:
    """Returns one line for every run outside its band and for every band without a run."""
    problems = []
    for entry in bands:
        mine = frame
        for name in GROUP:
            mine = mine[mine[name] == getattr(entry, name)]
        label = f"{entry.id} {entry.backbone} {entry.task} {entry.metric} {entry.setting}"
        if mine.empty:
            problems.append(f"missing  {label}: no score, expected {entry.low} to {entry.high}")
        for seed, value in zip(mine["seed"], 100 * mine["value"], strict=True):
            if not entry.low <= value <= entry.high:
                side = "low" if value < entry.low else "high"
                expected = f"{entry.low} to {entry.high}"
                problems.append(f"too {side:<4} {label} seed {seed}: {value:.3f}, expected {expected}")
    return problems
