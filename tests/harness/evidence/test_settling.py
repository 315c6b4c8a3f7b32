"""Whether a look is likely to settle a level, on the border."""

import math

import pytest

from harness.evidence import settling


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
