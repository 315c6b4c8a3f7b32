"""The bytes of one curve, reports/curves/RUN.jsonl: the evaluations during a training."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from pydantic import ConfigDict, Field

from harness.declarations import Declaration, validated
from harness.disk.records import read_lines
from harness.errors import InputError
from harness.results.schema import Dev, Step

EXPECTED = "an evaluation with step and score on each line"


class Evaluation(Declaration):
    """One evaluation; `score` is STS-B dev Spearman in raw units. Other entries of the log are ignored."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", allow_inf_nan=False)

    step: Step
    score: Dev
    alignment: float | None = Field(default=None, ge=0, le=4)
    uniformity: float | None = Field(default=None, ge=-8, le=0)


def read_curve(path: Path, *, again: str) -> list[Evaluation]:
    """Returns the evaluations in a file, in the order of their steps.

    Errors: InputError, which ends with `again`, if a line is not an evaluation, or its step comes before that
    of the line above.
    """
    entries = read_lines(path, expected=EXPECTED, again=again)
    found = [validated(Evaluation, entry, where=f"{path}: evaluation {n}") for n, entry in enumerate(entries)]
    for one, other in pairwise(found):
        if other.step < one.step:
            raise InputError(f"{path}: step {other.step} comes after step {one.step}; {again}")
    return found
