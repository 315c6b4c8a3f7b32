"""The answer of an interval to a claim, on its borders."""

import pytest

from harness.evidence.comparisons import claimed
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
