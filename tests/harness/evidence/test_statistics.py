"""Every formula against a case worked by hand, a published table of sample sizes, or a simulation."""

import numpy as np
import pytest
from scipy import stats

from harness.evidence import statistics
from harness.evidence.draws import clopper_pearson, percentile
from harness.evidence.statistics import KnownSd, half_width

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
    comparison = statistics.compare_seeds(SEEDS, [71.0, 72.0])
    assert comparison is not None
    half = stats.t.ppf(0.975, 2.635036) * 1.258306
    assert comparison.difference == pytest.approx(0.5)
    assert (comparison.low, comparison.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-4)
    assert comparison.p == pytest.approx(2 * stats.t.sf(0.5 / 1.258306, 2.635036), abs=1e-6)


@pytest.mark.parametrize(("difference", "seeds"), [(0.2, 394), (0.5, 64), (0.8, 26)])
def test_power_equals_cohens_tables(difference: float, seeds: int) -> None:
    """Sample sizes at 80 % power, two-sided 5 %, for small, medium, large effects (Cohen 1988; G*Power)."""
    assert (
        statistics.power(difference, 1.0, seeds, 0.05)
        >= 0.8
        > statistics.power(difference, 1.0, seeds - 1, 0.05)
    )


def test_power_equals_a_simulation() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(1.0, 1.0, (4000, 10)), rng.normal(0.0, 1.0, (4000, 10))
    p = stats.ttest_ind(ours, theirs, axis=1).pvalue
    for level in (0.05, 0.015):
        assert statistics.power(1.0, 1.0, 10, level) == pytest.approx((p < level).mean(), abs=0.03)


CLOSE = [75.0, 75.2, 75.4]
"""Mean 75.2, sd 0.2, standard error 0.11547; t(0.95, 2) = 2.91999 gives 0.33717."""
STUDY = KnownSd(0.84, 50)
"""t(0.95, 49) = 1.67655: one seed 1.40830, three seeds 0.81308."""


def test_a_larger_study_makes_a_few_close_seeds_wider_and_never_narrower() -> None:
    assert half_width(CLOSE, known=STUDY, confidence=0.9) == pytest.approx(0.81308, abs=1e-5)
    assert half_width(CLOSE, known=KnownSd(0.01, 50), confidence=0.9) == pytest.approx(0.33717, abs=1e-5)
    assert half_width([75.0], known=STUDY, confidence=0.9) == pytest.approx(1.40830, abs=1e-5)


@pytest.mark.parametrize(("successes", "trials"), [(0, 3), (1, 4), (65, 72), (7, 14), (4, 4)])
def test_the_binomial_interval_leaves_a_fortieth_on_each_side(successes: int, trials: int) -> None:
    actual = clopper_pearson(successes, trials)
    below = stats.binom.sf(successes - 1, trials, actual.low)
    above = stats.binom.cdf(successes, trials, actual.high)
    assert (actual.low, below) == (0.0, 1.0) or below == pytest.approx(0.025)
    assert (actual.high, above) == (1.0, 1.0) or above == pytest.approx(0.025)
    exact = stats.binomtest(successes, trials).proportion_ci(0.95, method="exact")
    assert actual == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_ties_count_half_in_the_place_and_widen_its_interval() -> None:
    """Of 1, 2, 2, 3 one is below 2 and two are ties: (1 + 1) / 4; from one of four to three of four."""
    share = percentile([[1.0], [2.0], [2.0], [3.0]], 2.0)
    assert share.value == 0.5
    assert share.interval.low == clopper_pearson(1, 4).low
    assert share.interval.high == clopper_pearson(3, 4).high
    assert percentile([[1.0], [2.004]], 2.0, rounding=0.005).value == 0.75


def test_several_runs_that_are_one_draw_count_by_their_part_below() -> None:
    """Three of four runs and one run alone are below: 1.75 of 2 draws; the interval is from 1 and from 2."""
    share = percentile([[1.0, 1.0, 1.0, 3.0], [1.0]], 2.0)
    assert share.value == 1.75 / 2
    assert share.interval == (clopper_pearson(1, 2).low, clopper_pearson(2, 2).high)
    many = percentile([[1.0] * 50], 2.0)
    assert many.interval.low == clopper_pearson(1, 1).low
