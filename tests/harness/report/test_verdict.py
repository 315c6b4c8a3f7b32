"""The verdict: which rule decides where, and that the rules leave no gap."""

from __future__ import annotations

import math

import pytest

from harness.report.statistics import Spread, spread, verdict

THREE = [70.0, 72.0, 74.0]
"""Mean 72, sd 2, standard error 1.1547; two of them 2.3094, and t(0.975, 2) of them 4.9683."""


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        (72.0, "agrees"),
        (74.309, "agrees"),
        (69.691, "agrees"),
        (74.310, "not separable"),
        (76.968, "not separable"),
        (76.969, "differs"),
        (67.031, "differs"),
        (67.032, "not separable"),
    ],
)
def test_three_seeds_with_their_own_sd(published: float, expected: str) -> None:
    assert verdict(THREE, published, point=1.0).verdict == expected


def test_three_close_seeds_are_near_within_a_point_and_then_differ() -> None:
    """Mean 72, sd 0.1, standard error 0.0577: agrees to 0.1155, t interval to 0.2484."""
    close = [71.9, 72.0, 72.1]
    assert verdict(close, 72.11, point=1.0).verdict == "agrees"
    assert verdict(close, 72.2, point=1.0).verdict == "near"
    assert verdict(close, 73.0, point=1.0).verdict == "near"
    assert verdict(close, 73.01, point=1.0).verdict == "differs"


def test_the_known_sd_is_a_floor_below_ten_seeds() -> None:
    """Known sd 0.84: error 0.84 / sqrt(3) = 0.48497, agreement to 0.96995; the own sd of 0.1 gave 0.1155."""
    close = [71.9, 72.0, 72.1]
    assert spread(close, 0.84) == Spread(0.84, known=True)
    assert verdict(close, 72.96, point=0.5, known_sd=0.84).verdict == "agrees"
    assert verdict(close, 72.98, point=0.5, known_sd=0.84).verdict == "differs"


def test_ten_seeds_and_a_larger_own_sd_need_no_floor() -> None:
    ten = [72.0 + 0.1 * step for step in range(10)]
    own = spread(ten, 0.84)
    assert own is not None
    assert own == spread(ten)
    assert spread(THREE, 0.84) == Spread(2.0, known=False)


def test_one_seed_without_a_known_sd_never_differs() -> None:
    assert verdict([72.0], 99.0, point=1.0).verdict == "not separable"
    assert verdict([72.0], 99.0, point=1.0).seeds_needed == 2
    assert verdict([72.0], 72.9, point=1.0).verdict == "near"


def test_one_seed_with_a_known_sd_is_judged_by_it() -> None:
    """Twice the known sd is 1.68, which is above the 1.96 sd only from 1.6464: agreement decides first."""
    assert verdict([75.0], 76.67, point=1.0, known_sd=0.84).verdict == "agrees"
    assert verdict([75.0], 76.69, point=1.0, known_sd=0.84).verdict == "differs"


def test_the_simcse_paper_differs_from_the_fifty_seeds_of_the_public_study() -> None:
    """Mean 75.11, sd 0.84, 50 seeds: error 0.1188; the paper's 76.25 is 9.6 errors, 1.14 points away."""
    seeds = [75.11 + 0.84 * math.sqrt(49 / 50) * sign for sign in (-1, 1)] * 25
    found = verdict(seeds, 76.25, point=1.0)
    assert found.verdict == "differs"
    assert found.delta == pytest.approx(-1.14)


def test_rounding_of_the_printed_value_counts_as_agreement() -> None:
    assert verdict([56.704], 56.70, point=1.0, rounding=0.005).verdict == "agrees"
    assert verdict([56.706], 56.70, point=1.0, rounding=0.005).verdict == "near"


def test_a_deterministic_system_differs_with_one_run() -> None:
    assert verdict([60.73], 56.70, point=1.0, known_sd=0.0, rounding=0.005).verdict == "differs"
    assert verdict([57.00], 56.70, point=1.0, known_sd=0.0, rounding=0.005).verdict == "near"


def test_no_seeds_are_missing_and_nothing_published_is_ours() -> None:
    assert verdict([], 70.0, point=1.0).verdict == "missing"
    assert verdict(THREE, None, point=1.0).verdict == "ours"


def test_what_is_not_separable_needs_more_seeds_than_it_has() -> None:
    for published in (74.4, 75.0, 76.0, 76.9):
        found = verdict(THREE, published, point=1.0)
        assert found.verdict == "not separable"
        assert found.seeds_needed is not None
        assert found.seeds_needed > len(THREE)


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_the_verdict_does_not_depend_on_the_unit(scale: float) -> None:
    found = [
        verdict([value * scale for value in (0.70, 0.72, 0.74)], published * scale, point=0.01 * scale)
        for published in (0.72, 0.7281, 0.745, 0.80)
    ]
    assert [judged.verdict for judged in found] == ["agrees", "agrees", "not separable", "differs"]
