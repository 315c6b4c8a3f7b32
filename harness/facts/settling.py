"""How often `verdicts.typical` gives which answer, and how many seeds it takes to settle a number."""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from harness.facts import statistics
from harness.facts.intervals import student
from harness.facts.statistics import KnownSpread
from harness.facts.verdicts import LEVEL, MARGIN, Typical

MOST_SEEDS = 1000
"""Beyond this many seeds a number counts as one that seeds do not settle."""

LIKELY = 0.8
"""Chance with which the seeds that are asked for settle the number, if the difference is the one seen."""

_QUANTILES = (np.arange(400) + 0.5) / 400  # of the law of the sample variance


def answer_chances(
    difference: float,
    sd: float,
    seeds: int,
    *,
    known: KnownSpread | None = None,
    printed_seeds: int = 0,
    margin: float = MARGIN,
) -> dict[Typical, float]:
    """Returns the chance of each answer of `typical` if our scores are normal and their law is known.

    difference: true expected score minus the printed value, sd: true standard deviation between seeds, both
    in points. The printed value is given; `printed_seeds` widens the interval as in `typical`, and does not
    vary. Source: the normal law of the mean, averaged over 400 quantiles of the chi-square law of the
    variance. Errors: ValueError without a positive sd and a seed.
    """
    if sd <= 0 or seeds < 1:
        raise ValueError(f"sd {sd}, {seeds} seeds: expected a positive sd and at least one seed")
    halves = _half_widths(sd, seeds, known, printed_seeds)
    if halves is None:
        return {"confirmed": 0.0, "lower than printed": 0.0, "higher than printed": 0.0, "not settled": 1.0}
    error = sd / math.sqrt(seeds)
    below = special.ndtr((-margin - halves - difference) / error)
    above = special.ndtr(-(margin + halves - difference) / error)
    inside = special.ndtr((margin - halves - difference) / error) - special.ndtr(
        (-margin + halves - difference) / error
    )
    confirmed = float(np.where(halves < margin, inside, 0.0).mean())
    lower, higher = float(below.mean()), float(above.mean())
    return {
        "confirmed": confirmed,
        "lower than printed": lower,
        "higher than printed": higher,
        "not settled": max(0.0, 1 - confirmed - lower - higher),
    }


def _half_widths(sd: float, seeds: int, known: KnownSpread | None, printed_seeds: int) -> np.ndarray | None:
    """Returns `intervals.half_width` at the quantiles of our own spread; None without any spread."""
    root = math.sqrt(1 / seeds + (1 / printed_seeds if printed_seeds else 0))
    widths = np.zeros(len(_QUANTILES))
    if seeds > 1:
        own = sd * np.sqrt(stats.chi2.ppf(_QUANTILES, seeds - 1) / (seeds - 1))
        widths = student(seeds - 1, 1 - 2 * LEVEL) * own * root
    if known is not None and seeds < statistics.SMALL_SAMPLE:
        widths = np.maximum(widths, student(known.n - 1, 1 - 2 * LEVEL) * known.sd * root)
    elif seeds == 1:
        return None
    return widths


def seeds_to_settle(
    difference: float,
    sd: float,
    *,
    printed_seeds: int = 0,
    margin: float = MARGIN,
    target: float = LIKELY,
) -> int | None:
    """Returns the seeds in all with which the number is settled with chance `target`; None above MOST_SEEDS.

    It is planned as if the difference seen were the true one: inside the margin the seeds must confirm,
    outside they must show the difference. None therefore stands for a difference too near the margin, and
    for a printed mean of so few seeds that no number of ours can settle it. Errors: as `answer_chances`.
    """
    wanted: Typical = (
        "confirmed"
        if abs(difference) < margin
        else "lower than printed"
        if difference < 0
        else "higher than printed"
    )

    def enough(seeds: int) -> bool:
        chances = answer_chances(difference, sd, seeds, printed_seeds=printed_seeds, margin=margin)
        return chances[wanted] >= target

    high = 2
    while not enough(high):
        high *= 2
        if high > 2 * MOST_SEEDS:
            return None
    low = high // 2  # `low` is not enough, `high` is; the chance grows with the seeds
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high if high <= MOST_SEEDS else None
