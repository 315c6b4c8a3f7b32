"""Whether results agree with the committed ones: bit for bit, within rounding, or within the noise of seeds.

A band is the mean over the seeds plus and minus the larger of SDS sample standard deviations and FLOOR
points; one seed has FLOOR alone. A score above its band fails like one below: both show that a change moved a
number. With at most 26 seeds none of the scores that a band is computed from can lie outside it.

If a run trains no step or has the committed weights, only the arithmetic of its evaluation can differ, which
moves a correlation by less than ROUNDING. Training amplifies a changed last digit until the run differs as
much as another seed does: a score of such a run agrees if it is in the band of the committed seeds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from harness.results.schema import ResultFile, ScoreName, ScoreRecord
from harness.results.store import to_frame

SDS = 5.0
FLOOR = 0.5
GROUP = ["id", "backbone", "task", "metric", "setting", "selection"]
WATCHED = ("spearman", "accuracy", "map")
"""Metrics that have bands, over all items of a task."""
ROUNDING = 0.05
"""Points by which rounding may change a correlation of the same weights."""
CORRELATIONS = ("spearman", "pearson")
"""Metrics that change continuously; an accuracy changes by whole examples, so a band decides."""
Pair = tuple[ResultFile, ResultFile]
"""The committed result of a run, and the one that is here."""


class Band(NamedTuple):
    """The scores in points that one system may have on one task."""

    low: float
    high: float


def watched(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the scores that have bands."""
    return frame[frame["metric"].isin(WATCHED) & (frame["setting"] == "all")]


def bands_of(results: Iterable[ResultFile]) -> dict[tuple[str, ...], Band]:
    """Returns the band of each system on each task that results have watched scores of, by GROUP's values."""
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


@dataclass(frozen=True)
class Difference:
    """A score that differs from the committed one, in points. low, high: the range that agrees, or None.

    committed, here: None if only the other side has the score.
    """

    run: str
    score: str
    committed: float | None
    here: float | None
    low: float | None
    high: float | None

    @property
    def agrees(self) -> bool:
        """Whether rounding or another seed explains the score; always true for an additional task."""
        if self.here is None:
            return False
        return self.low is None or self.high is None or self.low <= self.here <= self.high

    def __str__(self) -> str:
        if self.here is None or self.committed is None:
            return f"{self.run} {self.score}: {'missing' if self.here is None else 'not committed'}"
        expected = "" if self.low is None else f", expected {self.low:.3f} to {self.high:.3f}"
        return f"{self.run} {self.score}: {self.here:.6f}, committed {self.committed:.6f}{expected}"


@dataclass(frozen=True)
class Averages:
    """Means over seeds of the scores that have bands, in points; the largest difference and where it is.

    spread: the standard deviation over the committed seeds there, None for one seed.
    """

    number: int
    equal: int
    largest: float
    where: str
    spread: float | None


def is_identical(pair: Pair) -> bool:
    """Returns whether weights, selected step and all recorded digits of the scores are the committed ones."""
    old, new = pair
    return (
        old.provenance.encoder_sha256 == new.provenance.encoder_sha256
        and old.selection == new.selection
        and _scores(old) == _scores(new)
    )


def differences(pairs: Iterable[Pair]) -> list[Difference]:
    """Returns every score that is not the committed one, in the order of the runs and then of the names."""
    pairs = list(pairs)
    bands = bands_of(old for old, _ in pairs)
    found = []
    for old, new in pairs:
        before, after = _scores(old), _scores(new)
        for name in sorted(before.keys() | after.keys()):
            one, two = before.get(name), after.get(name)
            if one is None or two is None or one.value != two.value:
                limits = _limits(old, new, one, bands) if one else None
                points = (None if score is None else 100 * score.value for score in (one, two))
                found.append(Difference(old.run.key, _title(name), *points, *(limits or (None, None))))
    return found


def averages(pairs: Iterable[Pair]) -> Averages | None:
    """Returns how the means over the seeds compare with the committed ones; None without a common score."""
    pairs = list(pairs)
    before, after = (watched(to_frame(side)) for side in zip(*pairs, strict=True))
    old, new = (100 * frame.groupby(GROUP)["value"].mean() for frame in (before, after))
    moved = (new - old).dropna()
    if moved.empty:
        return None
    where: Any = moved.abs().idxmax()
    spread = 100 * before.groupby(GROUP)["value"].std(ddof=1)[where]
    names = dict(zip(GROUP, where, strict=True))
    return Averages(
        number=len(moved),
        equal=sum(f"{old[cell]:.2f}" == f"{new[cell]:.2f}" for cell in moved.index),
        largest=float(moved.abs().max()),
        where=f"{names['id']}@{names['backbone']} {names['task']}",
        spread=None if pd.isna(spread) else float(spread),
    )


def reasons(pairs: Iterable[Pair], machine: str) -> list[str]:
    """Returns what the provenance of runs with other digits gives as a reason, in words.

    machine: the architecture of this machine, as `platform.machine` names it.
    """
    found: dict[str, None] = {}
    for old, new in pairs:
        before, after = old.provenance, new.provenance
        for name in ("arithmetic", "device", "precision", "text"):
            one, two = (getattr(side, name, None) for side in (before, after))
            if one and two and one != two:
                found[f"{name} is {two} here, {one} in the committed results"] = None
        for name, one in before.versions.items():
            if after.versions.get(name) != one:
                found[f"{name} is {after.versions.get(name, 'missing')} here, {one} committed"] = None
        if before.data_sha256 != after.data_sha256:
            found["the data differ from the committed ones"] = None
        if before.code_sha256 != after.code_sha256:
            found["the code differs from the committed one"] = None
        if old.run.recipe != new.run.recipe:
            found["the settings of the plan differ from the committed ones"] = None
    if machine not in ("x86_64", "AMD64"):
        found[f"this machine is {machine}: results are bit-identical on x86-64 only"] = None
    same = (
        "not recorded: code, data and packages are equal, so the processor or the number of threads differs"
    )
    return list(found) or [same]


def _limits(
    old: ResultFile, new: ResultFile, score: ScoreRecord, bands: Mapping[tuple[str, ...], Band]
) -> Band | None:
    """Returns the range in which a score agrees, in points; None if there is none."""
    same = old.provenance.encoder_sha256 == new.provenance.encoder_sha256
    if score.metric in CORRELATIONS and (same or not old.selection.last_step):
        return Band(100 * score.value - ROUNDING, 100 * score.value + ROUNDING)
    return bands.get((old.run.id, old.run.backbone, *score.name))


def _scores(result: ResultFile) -> dict[ScoreName, ScoreRecord]:
    return {score.name: score for score in result.scores}


def _title(name: ScoreName) -> str:
    """Returns a score's name without the parts that nearly all have."""
    task, *rest = name
    return " ".join([task, *(part for part in rest if part not in ("all", "best-dev"))])
