"""The chance that more seeds settle the level of a reported number."""

from functools import cache

import numpy as np
from scipy import special

from harness.evidence.number_tests import AT_A_LOOK, LOOKS, MARGIN

STUDIES = 4_000
"""Simulated studies behind a chance; its standard error is below one per cent."""


@cache
def chances(difference: float, sd: float) -> dict[int, float]:
    """Returns for each declared look the chance that the level is known by then, in [0, 1].

    difference: of the expected mean from the reported number, sd: between seeds, both in points. The level is
    known if it is shown to be within MARGIN or off by more, at the level of a look.
    """
    seeds = np.random.default_rng(0).normal(difference, max(sd, 1e-9), (LOOKS[-1], STUDIES))
    known, by = np.zeros(STUDIES, dtype=bool), {}
    for look in LOOKS:
        first = seeds[:look]
        error = first.std(axis=0, ddof=1) / np.sqrt(look)
        reach = -special.stdtrit(look - 1, AT_A_LOOK) * error
        known |= np.abs(np.abs(first.mean(axis=0)) - MARGIN) > reach
        by[look] = float(known.mean())
    return by
