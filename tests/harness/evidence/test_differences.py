"""A difference of two systems by hand: its errors, its outcome, pairing, and what would have been found."""

import math

import numpy as np
import pytest
from scipy import stats

from harness.evidence.differences import Difference, difference_of, holm, move_together
from harness.evidence.statistics import StandardError

FIRST = {0: 0.71, 1: 0.73, 2: 0.75}
SECOND = {0: 0.70, 1: 0.71, 2: 0.72, 3: 0.99}
SHARP, BLUNT = StandardError(0.01, 4), StandardError(0.1, 4)


def test_seeds_are_independent_draws_with_welchs_error() -> None:
    actual = difference_of(FIRST, SECOND)
    test = stats.ttest_ind([*FIRST.values()], [*SECOND.values()], equal_var=False)
    assert (actual.difference, actual.seeds, actual.outcome) == (pytest.approx(-0.05), (3, 4), "inconclusive")
    assert actual.interval == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert actual.p == pytest.approx(test.pvalue)


def test_paired_seeds_are_those_that_both_have_and_the_interval_is_students() -> None:
    """Differences 0.01, 0.02, 0.03: mean 0.02, sd 0.01, t(2) = 4.3027; seed 3 has no partner."""
    actual = difference_of(FIRST, SECOND, paired=True)
    assert (actual.difference, actual.seeds) == (pytest.approx(0.02), (3, 3))
    assert actual.interval == pytest.approx((0.02 - 0.024841, 0.02 + 0.024841), abs=1e-6)


def test_a_side_without_training_has_no_error_and_sides_exchanged_give_the_opposite() -> None:
    """0.71, 0.73, 0.75 against a fixed 0.60: mean 0.13, half width 4.3027 x 0.02 / sqrt(3) = 0.04968."""
    fixed = {7: 0.60, 8: 0.60}
    forward = difference_of(FIRST, fixed, exact=(False, True))
    back = difference_of(fixed, FIRST, exact=(True, False))
    assert (forward.outcome, forward.seeds, back.outcome, back.seeds) == ("won", (3, 1), "lost", (1, 3))
    assert forward.interval is not None
    assert back.interval is not None
    assert forward.interval.low == pytest.approx(0.13 - 0.04968, abs=1e-5)
    assert back.interval.high == pytest.approx(-forward.interval.low)


def test_two_sides_without_training_are_judged_over_pairs() -> None:
    actual = difference_of({0: 0.75}, {5: 0.5}, exact=(True, True))
    assert (actual.interval, actual.outcome, actual.detectable) == (None, "inconclusive", None)
    assert actual.reason == (
        "over pairs of sentences, whose interval is not known: no score depends on a seed"
    )
    known = difference_of({0: 0.75}, {5: 0.5}, exact=(True, True), pairs=StandardError(0.1, math.inf))
    assert known.interval == pytest.approx((0.25 - 0.195996, 0.25 + 0.195996), abs=1e-6)
    assert (known.outcome, known.reason) == ("won", "over pairs of sentences: no score depends on a seed")


def test_a_trained_side_with_one_seed_has_no_interval() -> None:
    actual = difference_of({1: 0.90}, FIRST)
    assert (actual.difference, actual.interval, actual.outcome) == (pytest.approx(0.17), None, "inconclusive")
    assert "inconclusive over seeds" in actual.reason


@pytest.mark.parametrize(
    ("seeds", "pairs", "outcome"),
    [
        (None, None, "inconclusive"),
        (None, SHARP, "inconclusive"),  # one seed: other seeds may give anything
        (SHARP, None, "won"),
        (SHARP, SHARP, "won"),
        (SHARP, BLUNT, "inconclusive"),  # jointly
        (BLUNT, StandardError(0.3, math.inf), "inconclusive"),
    ],
)
def test_trained_systems_are_compared_over_seeds_and_jointly(
    seeds: StandardError | None, pairs: StandardError | None, outcome: str
) -> None:
    assert Difference(0.6, 0.5, (3, 3), seeds, pairs).outcome == outcome


def test_two_seeds_that_happen_to_agree_are_not_rescued_by_the_pairs() -> None:
    """Over seeds 0.1 +- 12.706 x 0.01 includes zero, jointly with few degrees lost it would not."""
    actual = Difference(0.6, 0.5, (2, 2), StandardError(0.01, 1), StandardError(0.03, math.inf))
    over_seeds, _, jointly = actual.intervals
    assert over_seeds is not None
    assert jointly is not None
    assert over_seeds.holds(0.0)
    assert not jointly.holds(0.0)
    assert actual.outcome == "inconclusive"


def test_a_joint_error_adds_variances_with_satterthwaites_degrees_of_freedom() -> None:
    """3 and 4 with 2 degrees: 5, and 2 x (5 / 3)^4."""
    joint = StandardError(3.0, 2).with_known(4.0)
    assert tuple(joint)[:2] == pytest.approx((5.0, 2 * (5 / 3) ** 4))


@pytest.mark.parametrize(
    ("difference", "error", "words"),
    [
        (0.0025, 0.0008, "won by < 0.5"),  # up to 0.0047
        (0.0030, 0.0008, "won"),  # up to 0.0052, more than half a point
        (-0.0025, 0.0008, "lost by < 0.5"),
        (0.0001, 0.0008, "inconclusive"),
        (0.0, 0.0, "equal"),
    ],
)
def test_a_task_won_by_less_than_half_a_point_says_so(difference: float, error: float, words: str) -> None:
    assert Difference(0.5 + difference, 0.5, (3, 3), StandardError(error, 4)).in_words == words


def test_seeds_move_together_only_if_their_correlation_is_shown_to_be_high() -> None:
    """A copy with three seeds is one; of independent systems one in a hundred at most is taken for one."""
    rng = np.random.default_rng(0)
    base = dict(enumerate(rng.normal(size=3).tolist()))
    assert move_together(base, {seed: score + 0.01 * seed for seed, score in base.items()})
    assert not move_together(base, {seed + 3: score for seed, score in base.items()}), "no common seed"
    assert not move_together({0: 0.5}, {0: 0.5})
    for seeds, ratio in ((3, 1.0), (10, 5.0)):
        taken = sum(
            move_together(*(dict(enumerate((sd * rng.normal(size=seeds)).tolist())) for sd in (1.0, ratio)))
            for _ in range(1_000)
        )
        assert taken / 1_000 < 0.015
    common = rng.normal(size=10)
    near = (dict(enumerate((common + 0.2 * rng.normal(size=10)).tolist())) for _ in range(2))
    assert move_together(*near)


def test_holms_levels_stop_at_the_first_that_is_above() -> None:
    """0.01 against 0.05 / 3; 0.03 against 0.05 / 2 is above, so 0.04 stays at that step."""
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.025, 0.05 / 3, 0.025])
    assert holm([0.01, 0.02]) == pytest.approx([0.025, 0.05])
    assert holm([]) == []


def test_a_detectable_difference_is_found_in_eight_of_ten_studies() -> None:
    """Ten seeds a side of sd 1: statsmodels' power of the t test is 0.8 at 1.325."""
    rng = np.random.default_rng(1)
    error = StandardError(math.sqrt(2 / 10), 18)
    least = error.detectable(0.05, 0.8)
    assert least == pytest.approx(1.325, abs=0.002)
    drawn = rng.normal(size=(2, 4_000, 10)) + np.array([least, 0.0])[:, None, None]
    assert (stats.ttest_ind(*drawn, axis=1).pvalue < 0.05).mean() == pytest.approx(0.8, abs=0.02)
    assert StandardError(1.0, math.inf).detectable(0.05, 0.8) == pytest.approx(1.96 + 0.8416, abs=1e-3)


@pytest.mark.parametrize(
    ("seeds", "sds"), [((20, 10), (1.0, 3.0)), ((10, 20), (1.0, 3.0)), ((20, 10), (2, 2))]
)
def test_the_stated_difference_is_found_in_eight_of_ten_studies_of_unequal_numbers_of_seeds(
    seeds: tuple[int, int], sds: tuple[float, float]
) -> None:
    """Stated by sides with exactly these standard deviations; the studies draw theirs."""
    exact = [
        dict(enumerate((sd * (scores := np.linspace(-1, 1, count)) / scores.std(ddof=1)).tolist()))
        for count, sd in zip(seeds, sds, strict=True)
    ]
    stated = difference_of(exact[0], exact[1])
    assert stated.seeds == seeds
    assert stated.detectable is not None
    rng = np.random.default_rng(3)
    ours, theirs = (rng.normal(0, sd, (4_000, count)) for count, sd in zip(seeds, sds, strict=True))
    found = stats.ttest_ind(ours + stated.detectable, theirs, axis=1, equal_var=False).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.02)
    rows = [dict(enumerate(side[0].tolist())) for side in (ours, theirs)]
    test = stats.ttest_ind(*(list(row.values()) for row in rows), equal_var=False)
    assert difference_of(rows[0], rows[1]).p == pytest.approx(test.pvalue)


def test_the_studentized_range_of_several_systems_equals_scipys() -> None:
    for systems, freedom in ((3, 2.5), (22, 4.0), (22, 60.0)):
        error = StandardError(1.0, freedom, systems)
        reach = stats.studentized_range.isf(0.05, systems, freedom) / math.sqrt(2)
        assert error.reach(0.05) == pytest.approx(reach, rel=2e-3)
        assert error.p(reach) == pytest.approx(0.05, abs=2e-3)
