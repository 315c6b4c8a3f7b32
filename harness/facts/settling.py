"""The probability of a verdict at a later look: a predictive simulation with the rules of `verdicts`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from harness.facts.statistics import SMALL_SAMPLE, KnownSd
from harness.facts.verdicts import LOOKS, OPEN, Origin, p_values, verdicts_at_a_look

DRAWS = 4000
"""Simulated studies; a probability is then off by less than 2 points (two standard errors)."""

WORTH = 0.5
"""Probability of a verdict from which a look is worth its runs."""


def look_worth_its_runs(
    difference: float, sd: float | None, seeds: int, **judged_by: Any
) -> tuple[int, float | None]:
    """Returns the first look after `seeds` with a verdict more likely than not, the last where none has.

    With the probability of a verdict there; without a standard deviation the next look, and None.
    Arguments: as of `chance_of_verdict`. Errors: ValueError after the last look.
    """
    for look in (look for look in LOOKS if look > seeds):
        chance = chance_of_verdict(difference, sd, seeds, look, **judged_by)
        if chance is None or chance >= WORTH or look == LOOKS[-1]:
            return look, chance
    raise ValueError(f"{seeds} seeds: expected fewer than {LOOKS[-1]}")


@cache
def chance_of_verdict(
    difference: float,
    sd: float | None,
    seeds: int,
    look: int,
    *,
    origin: Origin,
    known: KnownSd | None = None,
    rounding: float = 0.0,
) -> float | None:
    """Returns the probability that `look` seeds in all give a verdict, None without a standard deviation.

    difference: mean of our `seeds` runs minus the reported number; without runs the best guess, taken as
    true.
    sd: of our runs. known: the standard deviation of a larger study, which counts below `SMALL_SAMPLE` seeds.
    What is not known is drawn: the variance from the scaled inverse chi-square law, the mean from the normal
    law, then the runs that are still to make. Errors: ValueError unless look > seeds.
    """
    if look <= seeds:
        raise ValueError(f"{seeds} seeds, look at {look}: expected a later look")
    own = (seeds - 1) * sd**2 if sd is not None else 0.0
    squares, freedom = own, max(0, seeds - 1) if sd is not None else 0
    if known is not None and known.n > 1 and seeds < SMALL_SAMPLE:
        squares, freedom = squares + (known.n - 1) * known.sd**2, freedom + known.n - 1
    if freedom == 0 or squares == 0:
        return None
    rng = np.random.default_rng([seeds, look])
    sigma = np.sqrt(squares / rng.chisquare(freedom, DRAWS))
    centre = difference + (sigma * rng.normal(size=DRAWS) / np.sqrt(seeds) if seeds else 0.0)
    new = look - seeds
    mean = centre + sigma * rng.normal(size=DRAWS) / np.sqrt(new)
    inner = sigma**2 * rng.chisquare(new - 1, DRAWS) if new > 1 else 0.0
    total = own + inner + seeds * new / look * (difference - mean) ** 2
    after = (seeds * difference + new * mean) / look
    found = p_values(
        after,
        np.sqrt(total / (look - 1)),
        look,
        origin=origin,
        known=known if known is not None and known.n > 1 else None,
        rounding=rounding,
    )
    return float((verdicts_at_a_look(found, after) != OPEN).mean())
