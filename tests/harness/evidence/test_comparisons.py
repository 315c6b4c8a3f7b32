"""The answer of an interval to a claim on its borders, and of many to theirs."""

import pytest

from harness.evidence.comparisons import Pair, claimed, claimed_among_many
from harness.evidence.statistics import WelchComparison


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [
        (-0.5, 0.5, "supported"),
        (-0.5, 0.25, "supported"),
        (-0.75, 0.5, "inconclusive"),
        (-0.5, 0.75, "inconclusive"),
        (0.5, 1.0, "inconclusive"),
        (0.625, 1.0, "contradicted"),
        (-1.0, -0.5, "inconclusive"),
        (-1.0, -0.625, "contradicted"),
    ],
)
def test_a_claim_of_equality_within_half_a_point_includes_both_borders(
    low: float, high: float, answer: str
) -> None:
    """An interval from -0.5 to 0.5 lies inside; one that begins at 0.5 is not outside yet."""
    assert claimed(WelchComparison((low + high) / 2, low, high, 0.5), margin=0.5) == answer


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [
        (0.0, 1.0, "inconclusive"),
        (0.125, 1.0, "supported"),
        (-1.0, 0.0, "inconclusive"),
        (-1.0, -0.125, "contradicted"),
    ],
)
def test_an_interval_that_ends_at_zero_answers_no_claim_of_a_difference(
    low: float, high: float, answer: str
) -> None:
    assert claimed(WelchComparison((low + high) / 2, low, high, 0.5)) == answer


def test_pairs_that_have_reached_no_look_make_the_others_no_stricter() -> None:
    """Five seeds a side of variance 2.5: the standard error is 1, and 3.8 apart is t = 3.8 with 8 degrees of
    freedom, p = 0.0052. One of two tests is answered, so its level is 0.015 / 2 = 0.0075; with the two
    untested pairs counted it would be 0.015 / 4 = 0.00375.
    """
    seeds = [0.0, 1.0, 2.0, 3.0, 4.0]
    apart = Pair([value + 3.8 for value in seeds], seeds)
    pairs = [apart, Pair(seeds, seeds[::-1]), Pair([9.0, 9.5], [1.0, 1.5]), Pair([5.0, 6.0], [1.0, 2.0])]
    (first, _), *_ = answered = claimed_among_many(pairs)
    assert first is not None
    assert first.p == pytest.approx(0.0052, abs=1e-4)
    assert [comparison is None for comparison, _ in answered] == [False, False, True, True]
    assert [answer for _, answer in answered] == ["supported", *["inconclusive"] * 3]
