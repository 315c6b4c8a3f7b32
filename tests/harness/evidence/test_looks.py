"""Seeds of a verdict and a comparison: the first declared ones, up to the last look of all of them."""

import pytest

from harness.evidence.comparisons import Pair, claimed_among_many
from harness.evidence.number_tests import (
    AT_A_LOOK,
    LEVEL,
    LOOKS,
    TWO_SIDED_AT_A_LOOK,
    Origin,
    look_of,
    next_look,
    over_looks,
)
from harness.evidence.statistics import compare_seeds
from harness.evidence.verdicts import judge
from harness.report.tables.evidence import SeedScore, in_declared_order
from tests.harness.report.made_results import result

FIVE = [75.2, 74.8, 75.6, 75.0, 75.4]
LATER = [60.0, 90.0, 61.0, 91.0]
"""Seeds of which none is to be used with FIVE before them."""


@pytest.mark.parametrize("later", [LATER[:1], LATER[1:2], LATER])
def test_seeds_after_the_last_look_have_no_effect_on_either_side(later: list[float]) -> None:
    assert judge([*FIVE, *later], 75.2, origin=Origin()) == judge(FIVE, 75.2, origin=Origin())


def test_a_gap_among_the_declared_seeds_makes_the_look_that_before_it() -> None:
    """Twelve seeds, of which the first seven are there without a gap: the look after five."""
    twelve = [*FIVE, *LATER, *LATER[:3]]
    for ready in (5, 7, 9):
        assert judge(twelve, 75.2, origin=Origin(), in_order=ready) == judge(FIVE, 75.2, origin=Origin())
    assert judge(twelve, 75.2, origin=Origin(), in_order=10) == judge(twelve[:10], 75.2, origin=Origin())
    assert not judge(twelve, 75.2, origin=Origin(), in_order=4).verdict.is_settled


@pytest.mark.parametrize("turned", [False, True])
def test_two_systems_are_compared_at_the_look_that_both_have_reached(turned: bool) -> None:
    """Nine seeds and eleven: five of each, in their order."""
    nine, eleven = [*FIVE, *LATER], [value - 1 for value in (*FIVE, *LATER[::-1], 60.0, 90.0)]
    first, second = (eleven, nine) if turned else (nine, eleven)
    ((compared, answer),) = claimed_among_many([Pair(first, second)])
    expected = compare_seeds(first[:5], second[:5], confidence=1 - TWO_SIDED_AT_A_LOOK)
    assert compared == expected
    assert answer == ("contradicted" if turned else "supported")


def test_four_seeds_of_either_system_are_not_compared() -> None:
    for pair in (Pair(FIVE[:4], LATER * 3), Pair(LATER * 3, FIVE[:4])):
        assert claimed_among_many([pair]) == [(None, "inconclusive")]


def test_a_p_value_at_one_look_is_four_times_itself_over_four_looks_and_at_most_one() -> None:
    """If it is below the level of a look, it is at most the level of all looks."""
    assert over_looks(0.001) == pytest.approx(0.004)
    assert over_looks(AT_A_LOOK - 1e-9) == LEVEL
    assert over_looks(AT_A_LOOK) == pytest.approx(4 * AT_A_LOOK)
    assert over_looks(0.2) == pytest.approx(0.8)
    assert over_looks(0.3) == over_looks(1.0) == 1.0


def scores(*seeds: int) -> list[SeedScore]:
    runs = [result("a", seed, {("STS12", "all"): 0.5 + seed / 1000}).run for seed in seeds]
    return [SeedScore(run, 0.5 + run.seed / 1000, 10, 0.5) for run in runs]


@pytest.mark.parametrize(
    ("seeds", "declared", "order", "ready"),
    [
        ((0, 1, 2), (2, 0, 1), (2, 0, 1), 3),
        ((0, 1, 2), (), (0, 1, 2), 3),
        ((2, 1, 0), (), (0, 1, 2), 3),
        ((1, 2, 7), (2, 0, 1), (2, 1, 7), 1),  # the second is missing
        ((0, 1, 7), (2, 0, 1), (0, 1, 7), 0),  # the first is missing
        ((9, 8, 2, 0), (2, 0), (2, 0, 8, 9), 2),  # more than declared
    ],
)
def test_seeds_count_in_the_order_of_their_declaration_up_to_the_first_that_is_missing(
    seeds: tuple[int, ...], declared: tuple[int, ...], order: tuple[int, ...], ready: int
) -> None:
    counted, count = in_declared_order(scores(*seeds), declared)
    assert tuple(score.run.seed for score in counted) == order
    assert count == ready


def test_the_looks_are_after_five_ten_twenty_and_forty_seeds() -> None:
    """The level at a look is simulated for these; one seed fewer waits, one seed more has no effect."""
    assert LOOKS == (5, 10, 20, 40)
    for seeds, reached, ahead in (
        (0, 0, 5), (4, 0, 5), (5, 5, 10), (9, 5, 10), (10, 10, 20), (11, 10, 20),
        (19, 10, 20), (20, 20, 40), (39, 20, 40), (40, 40, None), (41, 40, None),
    ):  # fmt: skip
        assert (look_of(seeds), next_look(seeds)) == (reached, ahead), seeds


def test_ten_seeds_are_judged_with_the_five_that_came_later() -> None:
    """Five seeds of about 75.2, then five of 80: with all ten the mean is 77.6."""
    later = [80.0, 80.1, 79.9, 80.0, 80.1]
    ten = judge([*FIVE, *later], 75.2, origin=Origin())
    assert ten != judge(FIVE, 75.2, origin=Origin())
    assert ten == judge([*FIVE, *later, 90.0], 75.2, origin=Origin())
