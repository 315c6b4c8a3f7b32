"""Whether a look is likely to settle a level: its border, and the mean that it is asked for."""

import math

import pytest

from harness.evidence import settling
from harness.evidence.statistics import KnownSd
from tests.harness.report.made_judged import printed


@pytest.mark.parametrize(
    ("difference", "error", "settled"),
    [
        (None, 0.5, True),
        (0.0, 0.5, True),
        (0.0, math.nextafter(0.5, 1.0), False),
        (1.25, 0.75, True),
        (-1.25, 0.75, True),
        (1.25, math.nextafter(0.75, 1.0), False),
        (0.5, 0.125, False),
    ],
)
def test_a_look_settles_a_mean_whose_distance_from_the_margin_is_its_error(
    difference: float | None, error: float, settled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The margin is 0.5: a difference of 0 is 0.5 from it, one of 1.25 is 0.75, one of 0.5 is on it."""
    monkeypatch.setattr(settling, "error_at", lambda look, sd: error)
    assert settling.settles(difference, 1.0, 5) is settled


@pytest.mark.parametrize(
    ("values", "others", "seeds"),
    [
        ([74.9, 75.1], -0.5, 5),
        ([74.4, 74.6], 0.0, None),
        ([], 0.0, 5),
        ([], -0.5, None),
    ],
)
def test_our_mean_decides_whether_more_seeds_help_and_without_seeds_that_of_others(
    values: list[float], others: float, seeds: int | None
) -> None:
    """The reported number is 75, the margin 0.5: a mean of 74.5 is on it, so no look will settle it.

    The standard deviation is 0.1 to 0.15, with an error of 0.2 at five seeds; a mean of 75 is 0.5 away.
    """
    plan = settling.plan_for(
        printed(75.0), values, others=others, known=None, planned=KnownSd(0.1, 50), price=None
    )
    assert plan.seeds == seeds
    assert ("cannot be settled by 40 seeds" in plan.why) is (seeds is None)
