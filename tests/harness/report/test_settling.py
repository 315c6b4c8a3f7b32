"""The probability of a verdict at a later look, against simulated studies."""

import numpy as np

from harness.facts.settling import DRAWS, OPEN, chance_of_verdict, look_worth_its_runs
from harness.facts.statistics import KnownSd
from harness.facts.verdicts import LOOKS, Origin, p_values, verdicts_at_a_look

STUDY = KnownSd(0.84, 50)


def chance(difference: float, sd: float | None, seeds: int, look: int, known: KnownSd | None = None) -> float:
    found = chance_of_verdict(difference, sd, seeds, look, origin=Origin(), known=known)
    assert found is not None
    return found


def test_sure_cases_are_sure() -> None:
    assert chance(0.0, 0.05, 5, 10) > 0.99
    assert chance(9.0, 0.5, 5, 10) > 0.99
    assert chance(0.5, 0.5, 20, 40) < 0.2  # at the margin nothing settles it


def test_without_a_standard_deviation_it_is_not_known() -> None:
    assert chance_of_verdict(0.0, None, 1, 5, origin=Origin()) is None
    assert chance_of_verdict(0.0, None, 0, 5, origin=Origin()) is None
    assert chance(0.0, None, 0, 5, STUDY) < 0.05
    assert chance(0.0, None, 0, 40, KnownSd(0.5, 50)) > 0.9


def test_the_advised_look_is_the_first_with_a_verdict_more_likely_than_not() -> None:
    for difference, sd, seeds in ((0.0, 0.5, 3), (0.0, 0.3, 5), (3.0, 0.5, 2), (0.2, 0.4, 10)):
        look, stated = look_worth_its_runs(difference, sd, seeds, origin=Origin())
        assert stated is not None
        assert stated >= 0.5
        assert stated == chance(difference, sd, seeds, look)
        assert all(chance(difference, sd, seeds, early) < 0.5 for early in LOOKS if seeds < early < look)


def test_the_probability_is_that_of_runs_drawn_one_by_one() -> None:
    """Three runs of mean 0.1 and standard deviation 0.2, two to come; four standard errors of two shares."""
    draws, rng = 20_000, np.random.default_rng(3)
    sigma = np.sqrt(2 * 0.2**2 / rng.chisquare(2, draws))
    centre = 0.1 + sigma * rng.normal(size=draws) / np.sqrt(3)
    new = centre[:, None] + sigma[:, None] * rng.normal(size=(draws, 2))
    runs = np.concatenate([np.broadcast_to([-0.1, 0.1, 0.3], (draws, 3)), new], axis=1)
    means, sds = runs.mean(axis=1), runs.std(axis=1, ddof=1)
    found = p_values(means, sds, 5, origin=Origin(), known=None, rounding=0.0)
    settled = float((verdicts_at_a_look(found, means) != OPEN).mean())
    assert 0.2 < settled < 0.8
    assert abs(chance(0.1, 0.2, 3, 5) - settled) < 4 * np.sqrt(0.25 / draws + 0.25 / DRAWS)
