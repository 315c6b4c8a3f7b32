"""The curves of a training: its evaluations, reports/curves/RUN.json, and losses, reports/losses/RUN.json."""

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import Field

from harness.errors import InputError
from harness.evidence.schema import Dev, StepNumber
from harness.io.declarations import DeclaredModel, check_texts, validated
from harness.io.records import read_object, rounded
from harness.paths import REPORTS

EVALUATIONS = "evaluations"
"""Key of the evaluations in the file, in the order of their steps."""

LOSSES = REPORTS / "losses"
"""One file for each run, which only `dvc plots` reads."""
CURVE = ("step", "loss", "learning_rate")
"""Values of a loss curve at each step."""
POINTS = 500
"""Approximate number of points of a loss curve, which keeps files small."""


class DevEvaluation(DeclaredModel, extra="ignore"):
    """One evaluation; `score` is STS-B dev Spearman in raw units. Other entries of the log are ignored."""

    step: StepNumber
    score: Dev
    alignment: float | None = Field(default=None, ge=0, le=4)
    uniformity: float | None = Field(default=None, ge=-8, le=0)


def read_curve(path: Path, *, again: str) -> list[DevEvaluation]:
    """Returns the evaluations in a file, in the order of their steps.

    Errors: InputError, which ends with `again`, if the file is damaged, has no evaluations, or has steps out
    of order.
    """
    entries = read_object(path, EVALUATIONS, again=again)[EVALUATIONS]
    if not isinstance(entries, list):
        raise InputError(f"{path}: no evaluations with step and score; {again}")
    check_texts(entries, where=str(path))
    evaluations = [
        validated(DevEvaluation, entry, where=f"{path}: evaluation {n}") for n, entry in enumerate(entries)
    ]
    for evaluation, following in pairwise(evaluations):
        if following.step < evaluation.step:
            raise InputError(f"{path}: step {following.step} comes after step {evaluation.step}; {again}")
    return evaluations


def losses_of(log: Path) -> list[dict[str, Any]]:
    """Returns step, loss and learning rate of a training log, rounded, of at most POINTS steps.

    A log without steps gives one entry without a loss, because DVC cannot draw an empty list.
    """
    lines = log.read_text(encoding="utf-8").splitlines()
    steps = [entry for entry in map(json.loads, lines) if "loss" in entry]
    if not steps:
        return [{"step": 0, "loss": None}]
    every = math.ceil(len(steps) / POINTS)
    return [{name: rounded(entry.get(name)) for name in CURVE} for entry in steps[::every]]
