"""Two systems compared seed by seed, worked by hand."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.report.pairing import SystemScores, compare_named, compare_systems, system_scores
from tests.harness.report.made_results import result

A = SystemScores("a@b", "a", exact=False, tasks={"T": {0: 71.0, 1: 73.0, 2: 75.0}})
B = SystemScores("b@b", "b", exact=False, tasks={"T": {0: 70.0, 1: 71.0, 2: 72.0, 3: 99.0}})
FIXED = SystemScores("u@b", "u", exact=True, tasks={"T": {0: 70.0}})


def test_the_difference_is_over_seeds_that_both_have_with_student_s_interval() -> None:
    """Differences 1, 2, 3: mean 2, sd 1, half width 4.3027 / sqrt(3) = 2.4841; seed 3 has no partner."""
    (found,) = compare_systems(A, B).tasks
    assert (found.difference, found.seeds, found.outcome) == (pytest.approx(2.0), 3, "open")
    assert (found.low, found.high) == (
        pytest.approx(2 - 2.4841, abs=1e-4),
        pytest.approx(2 + 2.4841, abs=1e-4),
    )
    assert (found.first, found.second) == (pytest.approx(73.0), pytest.approx(71.0))


def test_the_other_way_round_every_sign_turns_and_a_win_is_a_loss() -> None:
    """Against a fixed 60 the differences are 11, 13, 15: mean 13, half width 4.968, above zero."""
    low = SystemScores("l@b", "l", exact=True, tasks={"T": {0: 60.0}})
    (won,), (lost,) = compare_systems(A, low).tasks, compare_systems(low, A).tasks
    assert (won.outcome, lost.outcome) == ("win", "loss")
    assert won.difference == pytest.approx(-lost.difference)
    assert won.low is not None
    assert lost.high == pytest.approx(-won.low)


def test_one_seed_has_no_interval_and_two_systems_without_training_have_one_of_no_width() -> None:
    single = SystemScores("s@b", "s", exact=False, tasks={"T": {1: 90.0}})
    (alone,) = compare_systems(single, B).tasks
    assert (alone.low, alone.high, alone.outcome) == (None, None, "open")
    other = SystemScores("v@b", "v", exact=True, tasks={"T": {5: 69.0}})
    (exact,) = compare_systems(FIXED, other).tasks
    assert (exact.low, exact.high, exact.outcome) == (1.0, 1.0, "win")


def test_the_mean_is_over_shared_tasks_and_seeds_and_counts_no_development_set() -> None:
    results = [
        result(name, seed, {("STS12", "all"): value, ("STS13", "all"): value + 0.1, ("STSB-dev", "all"): 0.9})
        for name, value in (("x", 0.5), ("y", 0.4))
        for seed in range(2)
    ]
    found = compare_named("x", "y@b", system_scores(results))
    assert [task.task for task in found.tasks] == ["STS12", "STS13"]
    assert found.mean is not None
    assert found.mean.difference == pytest.approx(10.0)
    assert found.mean.first == pytest.approx(55.0)


def test_an_unknown_system_and_two_without_a_common_task_are_input_errors() -> None:
    other = SystemScores("c@b", "c", tasks={"U": {0: 1.0}})
    systems = {system.key: system for system in (A, other)}
    with pytest.raises(InputError, match="system 'z' is unknown"):
        compare_named("z", "a", systems)
    with pytest.raises(InputError, match="no task in common"):
        compare_named("a", "c", systems)
