"""Every formula against a case worked by hand, a published table of sample sizes, or a simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harness.facts import statistics

SEEDS = [70.0, 72.0, 74.0]
"""Mean 72, squared deviations 4 + 0 + 4, so variance 8 / 2 = 4 and sd 2; standard error 2 / sqrt(3)."""


def test_mean_and_sd_of_three_seeds() -> None:
    assert statistics.mean(SEEDS) == 72.0
    assert statistics.sample_sd(SEEDS) == 2.0
    assert statistics.sample_sd([72.0]) is None


def test_welch_by_hand() -> None:
    """Means 72 and 71.5; variances 4 and 0.5; s = sqrt(4 / 3 + 0.5 / 2) = 1.25831.

    Degrees of freedom: 1.58333^2 / ((4/3)^2 / 2 + 0.25^2 / 1) = 2.50694 / 0.951389 = 2.63504.
    """
    found = statistics.compare_seeds(SEEDS, [71.0, 72.0])
    assert found is not None
    half = stats.t.ppf(0.975, 2.635036) * 1.258306
    assert found.difference == pytest.approx(0.5)
    assert (found.low, found.high) == (
        pytest.approx(0.5 - half, abs=1e-4),
        pytest.approx(0.5 + half, abs=1e-4),
    )
    assert found.p == pytest.approx(2 * stats.t.sf(0.5 / 1.258306, 2.635036), abs=1e-6)


@pytest.mark.parametrize(("difference", "expected"), [(0.2, 394), (0.5, 64), (0.8, 26)])
def test_seeds_needed_equals_cohens_tables(difference: float, expected: int) -> None:
    """Sample sizes at 80 % power, two-sided 5 %, for small, medium, large effects (Cohen 1988; G*Power)."""
    assert statistics.seeds_needed(difference, 1.0) == expected


def test_seeds_needed_for_half_a_point_at_the_known_sd_of_bert_base() -> None:
    """(1.96 + 0.8416)^2 x 2 x (0.84 / 0.5)^2 = 44.3 by the normal law; the t test needs some more."""
    assert statistics.seeds_needed(0.5, 0.84) == 46
    assert statistics.seeds_needed(-0.5, 0.84) == 46


def test_power_equals_a_simulation() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(1.0, 1.0, (4000, 10)), rng.normal(0.0, 1.0, (4000, 10))
    shown = stats.ttest_ind(ours, theirs, axis=1).pvalue < 0.05
    assert statistics.power(1.0, 1.0, 10) == pytest.approx(shown.mean(), abs=0.02)


def test_power_without_a_difference_is_the_level() -> None:
    assert statistics.power(0.0, 1.0, 8) == pytest.approx(0.05)


def test_a_tiny_difference_needs_the_normal_law_number_and_ends() -> None:
    """2 x (2.8015852 / 0.001)^2 = 15,697,759.2."""
    assert statistics.seeds_needed(0.001, 1.0) == 15_697_760
    with pytest.raises(ValueError, match="non-zero difference"):
        statistics.seeds_needed(0.0, 1.0)
