"""One curve, reports/curves/RUN.json: the evaluations during a training."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from pydantic import ConfigDict, Field

from harness.declarations import Declaration, validated
from harness.disk.records import read_object
from harness.errors import InputError
from harness.results.schema import Dev, Step

EVALUATIONS = "evaluations"
"""Entry of the file: its evaluations in the order of their steps."""


class Evaluation(Declaration):
    """One evaluation; `score` is STS-B dev Spearman in raw units. Other entries of the log are ignored."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", allow_inf_nan=False)

    step: Step
    score: Dev
    alignment: float | None = Field(default=None, ge=0, le=4)
    uniformity: float | None = Field(default=None, ge=-8, le=0)


def read_curve(path: Path, *, again: str) -> list[Evaluation]:
    """Returns the evaluations in a file, in the order of their steps.

    Errors: InputError, which ends with `again`, if the file is not as it was written, has no evaluations, or
    one whose step comes before that of the one above.
    """
    entries = read_object(path, EVALUATIONS, again=again)[EVALUATIONS]
    if not isinstance(entries, list):
        raise InputError(f"{path}: no evaluations with step and score; {again}")
    found = [validated(Evaluation, entry, where=f"{path}: evaluation {n}") for n, entry in enumerate(entries)]
    for one, other in pairwise(found):
        if other.step < one.step:
            raise InputError(f"{path}: step {other.step} comes after step {one.step}; {again}")
    return found
