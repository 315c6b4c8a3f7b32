"""Training curves: what one evaluation during training recorded, and its mean over seeds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class CurvePoint:
    """One evaluation during one run.

    dev: STS-B dev Spearman in raw units; alignment and uniformity: as the training log has them, or None.
    """

    seed: int
    step: int
    dev: float
    alignment: float | None = None
    uniformity: float | None = None


Reading = Callable[[CurvePoint], float | None]
"""Picks what is drawn from a point; None where the run did not record it."""


class Summary(NamedTuple):
    """Mean over the seeds that have a reading at `step`; `sd` is 0 for a single seed."""

    step: int
    mean: float
    sd: float


def seed_lines(points: Sequence[CurvePoint], reading: Reading) -> dict[int, list[tuple[int, float]]]:
    """Returns per seed the (step, reading) pairs in the order of steps, readings of None left out."""
    lines: dict[int, list[tuple[int, float]]] = {}
    for point in sorted(points, key=lambda p: (p.seed, p.step)):
        value = reading(point)
        if value is not None:
            lines.setdefault(point.seed, []).append((point.step, value))
    return lines


def summarise(points: Sequence[CurvePoint], reading: Reading) -> list[Summary]:
    """Returns mean and sample standard deviation over seeds at every step that has a reading."""
    at_step: dict[int, list[float]] = {}
    for line in seed_lines(points, reading).values():
        for step, value in line:
            at_step.setdefault(step, []).append(value)
    return [
        Summary(step, statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0)
        for step, values in sorted(at_step.items())
    ]
