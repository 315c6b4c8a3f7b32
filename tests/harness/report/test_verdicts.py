"""The rules of verdicts: cases worked by hand, and error rates over drawn studies."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.verdict_studies import Studies, failed, reported_numbers
from harness.facts.comparisons import (
    Pair,
    _differences,
    claimed_among_many,
    rank_intervals,
    surviving,
)
from harness.facts.draws import OURS, drawn, reach_of
from harness.facts.statistics import KnownSd
from harness.facts.verdicts import (
    AT_A_LOOK,
    INTERVAL,
    LEVEL,
    LOOKS,
    MARGIN,
    SAME,
    Origin,
    by_others,
    judge,
    look_of,
    next_look,
    origin_of,
)

FIVE = [74.8, 75.0, 75.2, 75.4, 75.6]
"""Mean 75.2, sd sqrt(0.1) = 0.31623, its error 0.14142; t(0.9875, 4) = 3.49541 gives 0.49433 each way."""
STUDY = KnownSd(0.84, 50)
EXACT = KnownSd(0.0, 0)
ONE, FIVE_RUNS, NOT_STATED = Origin(), Origin(5), origin_of(None)


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        (75.200, "replicates"),
        (75.205, "replicates"),  # 0.005 + 0.49433 = 0.49933
        (75.206, "inconclusive"),  # 0.006 + 0.49433 = 0.50033
        (76.19, "inconclusive"),  # the level is not off: 0.99 - 0.49433 = 0.49567
        (76.69, "inconclusive"),  # off, and 0.31623 sqrt(1 + 1/5) t(0.99375, 4) = 1.49464 is not passed
        (76.70, "does not replicate (lower)"),
        (73.71, "inconclusive"),
        (73.70, "does not replicate (higher)"),
    ],
)
def test_five_seeds_answer_level_and_replication(reported: float, expected: str) -> None:
    assert judge(FIVE, reported, origin=ONE).verdict == expected


def test_a_reported_mean_is_held_to_less_than_one_run_and_an_unknown_origin_to_more() -> None:
    """t(0.99375, 4) = 4.31466 times 0.31623 sqrt(1/5 + 1/5) is 0.86293: off by 1.0 is enough."""
    assert judge(FIVE, 76.2, origin=FIVE_RUNS).verdict == "does not replicate (lower)"
    assert judge(FIVE, 76.2, origin=ONE).verdict == "inconclusive"
    assert judge(FIVE, 77.0, origin=ONE).verdict == "does not replicate (lower)"
    assert judge(FIVE, 77.0, origin=NOT_STATED).verdict == "inconclusive"  # up to 2.29 above the mean
    assert judge(FIVE, 77.5, origin=NOT_STATED).verdict == "does not replicate (lower)"
    assert judge(FIVE, 73.6, origin=NOT_STATED).verdict == "does not replicate (higher)"  # choice moves up


def test_a_favourable_run_replicates_within_run_to_run_variation() -> None:
    """Ten seeds, mean 75.0, sd 0.65320: the level is off from 1.05 on, one run in twenty is beyond 1.28."""
    ten = TEN[OURS]
    assert judge(ten, 76.0, origin=ONE).verdict == "inconclusive"
    assert judge(ten, 76.2, origin=ONE).verdict == "replicates within run-to-run variation"
    assert judge(ten, 76.2, origin=FIVE_RUNS).verdict == "does not replicate (lower)"
    assert judge(ten, 76.5, origin=ONE).verdict == "inconclusive"
    assert judge(ten, 76.5, origin=NOT_STATED).verdict == "replicates within run-to-run variation"


def test_a_verdict_uses_the_seeds_up_to_the_last_look() -> None:
    assert [look_of(count) for count in (0, 4, 5, 9, 10, 39, 40, 100)] == [0, 0, 5, 5, 10, 20, 40, 40]
    assert [next_look(count) for count in (0, 5, 39, 40)] == [5, 10, 40, None]
    before, between = judge(FIVE, 75.2, origin=ONE), judge([*FIVE, 90.0, 90.0], 75.2, origin=ONE)
    assert before == between
    assert judge(FIVE[:4], 90.0, origin=ONE).verdict == "inconclusive"


def test_a_larger_study_widens_five_seeds_that_happen_to_agree() -> None:
    """t(0.9875, 49) 0.84 / sqrt(5) = 0.86867 each way; ten seeds are judged by themselves."""
    found = judge(FIVE, 75.2, origin=ONE, known=STUDY)
    assert found.verdict == "inconclusive"
    assert found.interval == pytest.approx((-0.86867, 0.86867), abs=1e-5)
    assert judge(FIVE, 77.0, origin=ONE, known=STUDY).verdict == "inconclusive"
    ten = [*FIVE, *FIVE]
    assert judge(ten, 75.2, origin=ONE, known=STUDY) == judge(ten, 75.2, origin=ONE)


def test_a_deterministic_system_is_compared_as_it_is_give_or_take_the_rounding() -> None:
    assert judge([56.70], 57.20, origin=NOT_STATED, known=EXACT).verdict == "replicates"
    assert judge([56.70], 57.21, origin=NOT_STATED, known=EXACT).verdict == "does not replicate (lower)"
    assert judge([56.70], 57.20, origin=NOT_STATED, known=EXACT, rounding=0.005).verdict == "inconclusive"


def test_the_rounding_of_a_reported_number_counts_against_each_verdict() -> None:
    """A number reported as 75.205 may be 75.210: 0.010 + 0.49433 = 0.50433; the same for 76.70 and 76.695."""
    assert judge(FIVE, 75.205, origin=ONE, rounding=0.005).verdict == "inconclusive"
    assert judge(FIVE, 75.200, origin=ONE, rounding=0.005).verdict == "replicates"
    assert judge(FIVE, 76.70, origin=ONE, rounding=0.01).verdict == "inconclusive"
    assert judge(FIVE, 76.71, origin=ONE, rounding=0.01).verdict == "does not replicate (lower)"
    assert judge(FIVE, 76.195, origin=FIVE_RUNS).verdict == "does not replicate (lower)"  # off by 0.995
    assert judge(FIVE, 76.195, origin=FIVE_RUNS, rounding=0.005).verdict == "inconclusive"


def test_the_answers_on_the_level_are_those_of_one_sided_t_tests() -> None:
    """Replicates: both tests of equivalence reject. Anything but inconclusive else: the level is off."""
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(300):
        count = int(rng.choice([5, 10, 20]))
        values = rng.normal(75 + rng.uniform(-1.5, 1.5), rng.choice([0.2, 0.5]), count)
        low = stats.ttest_1samp(values, 75 - MARGIN, alternative="greater").pvalue
        high = stats.ttest_1samp(values, 75 + MARGIN, alternative="less").pvalue
        found = judge(values.tolist(), 75.0, origin=FIVE_RUNS).verdict
        assert (found == "replicates") == (max(low, high) < AT_A_LOOK)
        off = min(1 - low, 1 - high) < AT_A_LOOK
        assert off or found in ("replicates", "inconclusive")
        seen.add(found)
    assert len(seen) >= 4
    assert pytest.approx(1 - 2 * LEVEL / len(LOOKS)) == INTERVAL


STUDIES = 1500


@pytest.mark.parametrize("sd", [0.25, 0.8])
@pytest.mark.parametrize(
    ("law", "judged"),
    [
        (Origin(), Origin()),
        (Origin(), NOT_STATED),
        (Origin(1, 5), NOT_STATED),
        (Origin(1, 10), NOT_STATED),
        (Origin(5), Origin(5)),
    ],
)
def test_honest_numbers_fail_in_at_most_one_study_of_twenty_however_long_one_goes_on(
    sd: float, law: Origin, judged: Origin
) -> None:
    rng = np.random.default_rng(3)
    studies = Studies(rng, sd, reported_numbers(rng, sd, STUDIES, law))
    assert failed(studies.until_settled(judged)) <= LEVEL


@pytest.mark.parametrize("sd", [0.25, 0.8])
@pytest.mark.parametrize("shift", [MARGIN, -MARGIN, 1.0])
def test_numbers_that_are_off_replicate_in_at_most_one_study_of_twenty(sd: float, shift: float) -> None:
    studies = Studies(np.random.default_rng(4), sd, np.full(STUDIES, shift))
    assert (studies.until_settled(NOT_STATED) == SAME).mean() <= LEVEL


def test_benjamini_hochberg_by_hand() -> None:
    """Sorted 0.01, 0.02, 0.03, 0.5 against 0.0125, 0.025, 0.0375, 0.05: the first three hold."""
    assert surviving([0.5, 0.01, 0.03, 0.02]) == [False, True, True, True]
    assert surviving([0.04, 0.5, 0.5, 0.5]) == [False] * 4  # 0.04 alone would hold
    assert surviving([]) == []


A, B, C = [70.0, 70.2, 70.4], [70.1, 70.3, 70.5], [60.0, 60.2, 60.4]


def test_ranks_are_those_that_cannot_be_told_apart() -> None:
    none = [False] * 3
    assert rank_intervals([A, B, C], none) == [(1, 2), (1, 2), (3, 3)]
    assert rank_intervals([A, B, C], none, lower_is_better=True) == [(2, 3), (2, 3), (1, 1)]


def test_a_single_run_of_a_trained_system_has_every_rank() -> None:
    assert rank_intervals([[90.0], [60.0]], [False, False]) == [(1, 2), (1, 2)]
    assert rank_intervals([[90.0], [60.0]], [True, True]) == [(1, 1), (2, 2)]
    assert rank_intervals([[90.0], A], [True, False]) == [(1, 1), (2, 2)]
    assert rank_intervals([[90.0], [60.0]], [True, False]) == [(1, 2), (1, 2)]


def test_ranks_of_equal_systems_are_wrong_in_at_most_one_table_of_twenty() -> None:
    rng = np.random.default_rng(6)
    wrong = 0
    for _ in range(300):
        groups = rng.normal(size=(6, 5)).tolist()
        wrong += any(ranks != (1, 6) for ranks in rank_intervals(groups, [False] * 6))
    assert wrong / 300 <= LEVEL


def test_answers_of_many_claims_have_the_level_of_their_share() -> None:
    """Error 0.2 with 8 degrees of freedom: 0.641 to either side for one of one, 0.834 for one of four."""
    same, near, far = (Pair(FIVE, [value - shift for value in FIVE]) for shift in (0.0, 0.7, 0.9))
    for pairs, low in (([near], 0.7 - 0.641), ([far, same, same, same], 0.9 - 0.834)):
        (found, answer), *_ = claimed_among_many(pairs)
        assert found is not None
        assert (found.low, answer) == (pytest.approx(low, abs=1e-3), "supported")
    assert [answer for _, answer in claimed_among_many([near, same, same, same])] == ["inconclusive"] * 4
    early = Pair(FIVE[:3], FIVE[:3])
    alone, *others = claimed_among_many([near, early, early])
    assert [alone] == claimed_among_many([near])
    assert others == [(None, "inconclusive")] * 2


TEN = {OURS: [74.0, 74.5, 75.0, 75.5, 76.0, 74.2, 74.8, 75.2, 75.8, 75.0]}
"""Mean 75.0, sd 0.6532, t(0.975, 9) = 2.26216: one more run within 75 -+ 1.54977."""


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        (75.1, "plausible draw"),
        (75.9, "plausible draw"),  # 9 of 10 below: 55 to 99.7 %
        (76.54, "plausible draw"),  # 10 of 10 below: 69 to 100 %
        (76.56, "out of reach"),
        (73.44, "out of reach"),
    ],
)
def test_a_draw_is_placed_among_ten_runs(reported: float, expected: str) -> None:
    assert drawn(TEN, reported).answer == expected


def test_luck_is_said_only_when_the_binomial_interval_says_it() -> None:
    """Twenty runs, all below: from 83 % on. A spread of two values leaves 76.2 within reach."""
    runs = {OURS: [74.6, 75.4] * 10}
    assert drawn(runs, 75.5).answer == "lucky draw"
    assert drawn(runs, 74.5).answer == "unlucky draw"
    assert drawn(runs, 75.0).answer == "plausible draw"


def test_fifty_runs_of_one_implementation_are_one_draw() -> None:
    """Fifty tight runs at 74.6 by others exclude nothing, alone or next to two sources; by us they do."""
    tight = [74.4, 74.8] * 25
    alone = drawn({"one": tight}, 76.5)
    assert (alone.answer, alone.reach, alone.runs, alone.sources) == ("too few runs", None, 50, 1)
    assert reach_of({"one": tight, "two": [76.2]}) is None, "two sources do not say how far sources differ"
    assert drawn({"one": tight, "two": [76.2], "three": [76.0]}, 76.5).answer == "too few runs"
    assert drawn({OURS: tight}, 76.5).answer == "out of reach"


NEAR = {"a": 75.0, "b": 75.2, "c": 75.4}


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        (75.2, "independent runs agree"),
        (75.37, "independent evidence is inconclusive"),
        (76.04, "independent runs score lower"),
        (74.36, "independent runs score higher"),
    ],
)
def test_others_answer_by_their_sources(reported: float, expected: str) -> None:
    found = by_others(NEAR, reported, same_authors=True, searched=True)
    assert (found.answer, found.sources) == (expected, 3)


def test_two_sources_settle_nothing_however_far_they_are() -> None:
    found = by_others({"a": 60.0, "b": 60.1}, 75.0, same_authors=False, searched=True)
    assert (found.answer, found.interval, found.sources) == ("independent evidence is inconclusive", None, 2)
    assert found.difference == pytest.approx(-14.95)


def test_without_others_it_counts_whether_anyone_looked() -> None:
    answers = [
        by_others({}, 75.0, same_authors=same, searched=searched).answer
        for same, searched in ((False, False), (True, False), (False, True))
    ]
    assert answers == ["no independent result", "authors only", "authors only"]


def test_the_p_values_of_all_pairs_are_those_of_one_test_a_pair() -> None:
    groups = [[75.0, 75.4, 74.1], [76.0, 76.2], [74.0], [75.2, 75.2], [74.9], [75.0, 75.1, 75.3, 75.2]]
    exact = [False, False, False, True, True, False]
    _, p = _differences(groups, exact)
    for i, j in ((0, 1), (0, 5), (1, 5)):
        one = stats.ttest_ind(groups[i], groups[j], equal_var=False).pvalue
        assert p[i, j] == p[j, i] == pytest.approx(one)
    for i in (0, 1, 5):
        assert p[i, 4] == pytest.approx(stats.ttest_1samp(groups[i], 74.9).pvalue)
    assert (p[3, 4], p[3, 3]) == (0.0, 1.0), "without random draws a difference is exact"
    assert set(p[2]) == {1.0}, "a single run is told apart from nothing"
