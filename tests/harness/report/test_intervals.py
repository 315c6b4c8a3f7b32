"""Intervals: worked by hand, and equal to slow sums and simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from harness.facts.draws import clopper_pearson, percentile, prediction_interval
from harness.facts.statistics import KnownSd, half_width

CLOSE = [75.0, 75.2, 75.4]
"""Mean 75.2, sd 0.2, standard error 0.11547; t(0.95, 2) = 2.91999 gives 0.33717."""
STUDY = KnownSd(0.84, 50)
"""t(0.95, 49) = 1.67655: one seed 1.40830, three seeds 0.81308."""


def test_three_seeds_alone_use_students_t() -> None:
    assert half_width(CLOSE, known=None, confidence=0.9) == pytest.approx(0.33717, abs=1e-5)


def test_a_larger_study_makes_a_few_close_seeds_wider_and_never_narrower() -> None:
    assert half_width(CLOSE, known=STUDY, confidence=0.9) == pytest.approx(0.81308, abs=1e-5)
    assert half_width(CLOSE, known=KnownSd(0.01, 50), confidence=0.9) == pytest.approx(0.33717, abs=1e-5)
    assert half_width([75.0], known=STUDY, confidence=0.9) == pytest.approx(1.40830, abs=1e-5)


def test_ten_seeds_speak_for_themselves() -> None:
    ten = [75.0 + 0.01 * step for step in range(10)]
    assert half_width(ten, known=STUDY, confidence=0.9) == half_width(ten, known=None, confidence=0.9)


def test_one_seed_without_a_study_has_no_interval_and_a_deterministic_system_no_width() -> None:
    assert half_width([75.0], known=None, confidence=0.9) is None
    assert half_width([75.0], known=KnownSd(0.0, 0), confidence=0.9) == 0.0


def test_one_more_of_three_runs_is_expected_within_five_of_their_mean() -> None:
    """Values 1, 2, 3: mean 2, sd 1, t(0.975, 2) = 4.302653 times sqrt(4/3) = 4.96828."""
    found = prediction_interval([1.0, 2.0, 3.0])
    assert found == pytest.approx((2 - 4.96828, 2 + 4.96828), abs=1e-5)
    assert prediction_interval([1.0]) is None


def test_a_prediction_interval_holds_the_next_run_in_95_of_100_cases() -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(75.0, 0.84, size=(2000, 7))
    held = [
        found.holds(row[6])
        for row in draws
        if (found := prediction_interval([float(value) for value in row[:6]])) is not None
    ]
    assert len(held) == 2000
    assert np.mean(held) == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / 2000))


@pytest.mark.parametrize(("successes", "trials"), [(0, 3), (1, 4), (65, 72), (7, 14), (4, 4)])
def test_the_binomial_interval_leaves_a_fortieth_on_each_side(successes: int, trials: int) -> None:
    found = clopper_pearson(successes, trials)
    if successes > 0:
        assert stats.binom.sf(successes - 1, trials, found.low) == pytest.approx(0.025)
    else:
        assert found.low == 0.0
    if successes < trials:
        assert stats.binom.cdf(successes, trials, found.high) == pytest.approx(0.025)
    else:
        assert found.high == 1.0


def test_none_of_three_leaves_a_share_of_up_to_seven_tenths() -> None:
    """The share p with (1 - p)^3 = 0.025 is 1 - 0.025^(1/3) = 0.70760."""
    assert clopper_pearson(0, 3).high == pytest.approx(0.70760, abs=1e-5)


def test_ties_count_half_in_the_place_and_widen_its_interval() -> None:
    """Of 1, 2, 2, 3 one is below 2 and two are ties: (1 + 1) / 4; from one of four to three of four."""
    found = percentile([[1.0], [2.0], [2.0], [3.0]], 2.0)
    assert found.value == 0.5
    assert found.interval.low == clopper_pearson(1, 4).low
    assert found.interval.high == clopper_pearson(3, 4).high
    assert percentile([[1.0], [2.004]], 2.0, rounding=0.005).value == 0.75


def test_several_runs_that_are_one_draw_count_by_their_part_below() -> None:
    """Three of four runs and one run alone are below: 1.75 of 2 draws; the interval is that of 1 and of 2."""
    found = percentile([[1.0, 1.0, 1.0, 3.0], [1.0]], 2.0)
    assert found.value == 1.75 / 2
    assert found.interval == (clopper_pearson(1, 2).low, clopper_pearson(2, 2).high)
    many = percentile([[1.0] * 50], 2.0)
    assert many.interval.low == clopper_pearson(1, 1).low
