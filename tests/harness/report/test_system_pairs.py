"""Two systems side by side: differences of paired seeds by hand, and when a task is won."""

from __future__ import annotations

import pytest

from harness.report.intervals import Interval
from harness.report.system_pairs import compare_systems, paired_differences, seeds_interval, tally, to_json
from tests.harness.report.conftest import results_of

NAMES = ("a@tiny", "b@tiny")


def systems(first: list[float], second: list[float], task: str = "STSB") -> tuple[list, list]:
    """The results of two systems, a score a seed."""
    made = [
        results_of([(f"{name}@tiny", seed, task, value) for seed, value in enumerate(values)])
        for name, values in (("a", first), ("b", second))
    ]
    return made[0], made[1]


def test_seeds_are_paired_and_the_interval_is_students() -> None:
    """Differences 0.10, 0.12, 0.14: mean 0.12, sd 0.02; t(2) = 4.3027, reach 4.3027 * 0.02 / sqrt(3)."""
    (one,) = compare_systems(*systems([0.60, 0.72, 0.64], [0.50, 0.60, 0.50]))
    assert one.difference == pytest.approx(0.12)
    assert one.paired == 3
    assert one.seeds is not None
    assert tuple(one.seeds) == pytest.approx((0.12 - 0.049683, 0.12 + 0.049683), abs=1e-5)
    assert one.outcome == "won"


def test_a_seed_that_one_side_lacks_is_left_out() -> None:
    assert paired_differences({0: 0.5, 1: 0.7, 2: 0.9}, {1: 0.6, 2: 0.6}) == pytest.approx([0.1, 0.3])


def test_a_single_run_is_compared_with_every_seed() -> None:
    assert paired_differences({7: 0.5}, {0: 0.4, 1: 0.6}) == pytest.approx([0.1, -0.1])
    assert paired_differences({0: 0.4, 1: 0.6}, {7: 0.5}) == pytest.approx([-0.1, 0.1])
    assert seeds_interval(paired_differences({0: 0.4}, {0: 0.3})) is None


@pytest.mark.parametrize(
    ("pairs", "outcome"),
    [
        (None, "open"),
        (Interval(0.05, 0.2), "won"),
        (Interval(-0.05, 0.2), "open"),
    ],
)
def test_a_task_without_seeds_is_judged_by_its_pairs(pairs: Interval | None, outcome: str) -> None:
    first, second = systems([0.6], [0.5])
    (bare,) = compare_systems(first, second)
    known = {} if pairs is None else {bare.name: pairs}
    (one,) = compare_systems(first, second, pairs=known)
    assert (one.pairs, one.outcome) == (pairs, outcome)


def test_every_known_interval_must_keep_off_zero() -> None:
    first, second = systems([0.60, 0.72, 0.64], [0.50, 0.60, 0.50])
    (bare,) = compare_systems(first, second)
    (one,) = compare_systems(first, second, pairs={bare.name: Interval(-0.01, 0.3)})
    assert bare.outcome == "won"
    assert one.outcome == "open"


def test_sides_exchanged_give_the_opposite() -> None:
    first, second = systems([0.60, 0.72, 0.64], [0.50, 0.60, 0.50])
    (there,), (back,) = compare_systems(first, second), compare_systems(second, first)
    assert back.difference == pytest.approx(-there.difference)
    assert (there.outcome, back.outcome) == ("won", "lost")
    assert tally([there, back, there]) == {"won": 2, "lost": 1, "open": 0, "equal": 0}
    told = to_json([there], NAMES)
    assert (told["won"], told["tasks"][0]["outcome"]) == (1, "won")


def test_equal_scores_are_equal_and_not_won() -> None:
    (one,) = compare_systems(*systems([0.5, 0.6], [0.5, 0.6]))
    assert one.outcome == "equal"
