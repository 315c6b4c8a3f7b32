"""Seeds that settle a number: equal to a search by simulation, growing with noise, honest where none do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from harness.facts.settling import LIKELY, MOST_SEEDS, answer_chances, seeds_to_settle
from harness.facts.statistics import KnownSpread
from harness.facts.verdicts import MARGIN, Typical, typical


@pytest.mark.parametrize(
    ("difference", "sd"), [(0.0, 0.84), (-1.0, 0.84), (2.0, 0.84), (0.3, 0.25), (-0.8, 0.3)]
)
def test_the_seeds_settle_four_drawn_studies_of_five_and_one_fewer_does_not(
    difference: float, sd: float
) -> None:
    seeds = seeds_to_settle(difference, sd)
    assert seeds is not None
    wanted = wanted_for(difference)
    rng = np.random.default_rng(seeds)
    for count, above in ((seeds, True), (seeds - 1, False)):
        draws = rng.normal(75 + difference, sd, size=(2000, count)).tolist()
        share = np.mean([typical(values, 75.0, printed_seeds=1).answer == wanted for values in draws])
        error = 4 * math.sqrt(LIKELY * (1 - LIKELY) / 2000)
        assert share > LIKELY - error if above else share < LIKELY + error


def wanted_for(difference: float) -> Typical:
    """Returns the answer that is true of a difference."""
    if abs(difference) < MARGIN:
        return "confirmed"
    return "lower than printed" if difference < 0 else "higher than printed"


@pytest.mark.parametrize(("difference", "sd"), [(0.0, 0.5), (-1.0, 0.84), (1.5, 0.6)])
def test_the_seeds_are_the_first_count_that_is_enough(difference: float, sd: float) -> None:
    wanted = wanted_for(difference)
    first = next(n for n in range(2, 100) if answer_chances(difference, sd, n)[wanted] >= LIKELY)
    assert seeds_to_settle(difference, sd) == first


def test_the_seeds_of_a_number_that_holds_follow_the_textbook_at_large_numbers() -> None:
    """At no difference n is near ((z(0.95) + z(0.90)) sd / margin)^2: 2.92640^2 (2 / 0.5)^2 = 137.02."""
    rough = ((stats.norm.ppf(0.95) + stats.norm.ppf(0.90)) * 2.0 / MARGIN) ** 2
    found = seeds_to_settle(0.0, 2.0)
    assert found is not None
    assert rough == pytest.approx(137.02, abs=0.01)
    assert rough <= found <= rough + 3


def test_more_noise_and_a_difference_nearer_to_the_margin_need_more_seeds() -> None:
    by_noise = [seeds_to_settle(0.0, sd) for sd in (0.1, 0.3, 0.6, 0.9)]
    by_distance = [seeds_to_settle(-distance, 0.84) for distance in (3.0, 2.0, 1.0, 0.7)]
    for found in (by_noise, by_distance):
        assert None not in found
        assert found == sorted(found, key=lambda seeds: seeds or 0)
        assert len(set(found)) > 2


def test_a_difference_at_the_margin_is_never_settled() -> None:
    assert seeds_to_settle(MARGIN, 0.84) is None
    assert seeds_to_settle(-0.49, 0.84) is None


def test_a_printed_mean_of_few_noisy_seeds_cannot_be_settled_by_any_number_of_ours() -> None:
    """The print alone is uncertain by 1.645 x 0.84 / sqrt(5) = 0.618, above the margin; of 50 by 0.195."""
    assert seeds_to_settle(0.0, 0.84, printed_seeds=5) is None
    many = seeds_to_settle(0.0, 0.84, printed_seeds=50)
    alone = seeds_to_settle(0.0, 0.84)
    assert many is not None
    assert alone is not None
    assert alone < many < MOST_SEEDS


def test_the_chances_sum_to_one_and_mirror_with_the_sign() -> None:
    for difference in (0.0, 0.4, 1.3):
        up, down = answer_chances(difference, 0.5, 6), answer_chances(-difference, 0.5, 6)
        assert math.fsum(up.values()) == pytest.approx(1.0)
        assert up["higher than printed"] == pytest.approx(down["lower than printed"])
        assert up["confirmed"] == pytest.approx(down["confirmed"])


def test_one_seed_without_a_study_settles_nothing_and_with_one_what_its_normal_law_says() -> None:
    """1.67655 x 0.5 = 0.83828 beyond the margin: at 2 points above the chance is that of -0.66172 / 0.5."""
    assert answer_chances(2.0, 0.5, 1)["not settled"] == 1.0
    known = answer_chances(2.0, 0.5, 1, known=KnownSpread(0.5, 50))
    assert known["higher than printed"] == pytest.approx(float(stats.norm.cdf(0.66172 / 0.5)), abs=1e-4)


@pytest.mark.parametrize(("sd", "seeds"), [(0.0, 3), (0.5, 0)])
def test_no_spread_or_no_seed_is_refused(sd: float, seeds: int) -> None:
    with pytest.raises(ValueError, match="expected a positive sd and at least one seed"):
        answer_chances(0.0, sd, seeds)
