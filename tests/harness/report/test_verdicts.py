"""The verdict rules: cases worked by hand, textbook tests, and error rates over drawn studies."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
from scipy import stats

from harness.facts.intervals import Interval
from harness.facts.settling import answer_chances
from harness.facts.statistics import KnownSpread
from harness.facts.verdicts import (
    FINDINGS,
    LEVEL,
    MARGIN,
    OURS,
    Typical,
    by_others,
    drawn,
    finding,
    reach_of,
    typical,
)

CLOSE = [75.0, 75.2, 75.4]
"""Mean 75.2; half the 90 % interval is 0.33717 (test_intervals.py)."""
STUDY = KnownSpread(0.84, 50)
STUDIES = 2000
ANSWERS: tuple[Typical, ...] = ("confirmed", "lower than printed", "higher than printed", "not settled")


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (75.20, "confirmed"),
        (75.36, "confirmed"),  # -0.16 - 0.33717 = -0.49717
        (75.37, "not settled"),  # -0.17 - 0.33717 = -0.50717
        (76.03, "not settled"),  # -0.83 + 0.33717 = -0.49283
        (76.04, "lower than printed"),  # -0.84 + 0.33717 = -0.50283
        (75.04, "confirmed"),
        (75.03, "not settled"),
        (74.37, "not settled"),
        (74.36, "higher than printed"),
    ],
)
def test_three_seeds_answer_by_where_their_interval_lies(printed: float, expected: str) -> None:
    assert typical(CLOSE, printed, printed_seeds=1).answer == expected


def test_noisier_seeds_do_not_agree_more_easily() -> None:
    """Mean 75.2 like CLOSE with an sd of 2: the interval reaches 3.37 points each way."""
    noisy = [73.2, 75.2, 77.2]
    assert typical(CLOSE, 75.3, printed_seeds=1).answer == "confirmed"
    assert typical(noisy, 75.3, printed_seeds=1).answer == "not settled"


def test_one_seed_is_judged_by_a_larger_study_or_not_at_all() -> None:
    """t(0.95, 49) 0.84 = 1.40830: shown from 1.90830 on."""
    assert typical([74.35], 76.25, printed_seeds=1, known=STUDY).answer == "not settled"
    assert typical([74.34], 76.25, printed_seeds=1, known=STUDY).answer == "lower than printed"
    alone = typical([60.0], 76.25, printed_seeds=1)
    assert (alone.answer, alone.interval) == ("not settled", None)


def test_a_printed_mean_of_five_is_harder_to_contradict_than_one_run() -> None:
    """Half the interval is 0.42650 with the print's own error, 0.33717 without; the difference is -0.90."""
    assert typical(CLOSE, 76.10, printed_seeds=1).answer == "lower than printed"
    assert typical(CLOSE, 76.10, printed_seeds=None).answer == "lower than printed"
    assert typical(CLOSE, 76.10, printed_seeds=5).answer == "not settled"


def test_a_deterministic_system_is_compared_as_it_is_give_or_take_the_rounding() -> None:
    exact = KnownSpread(0.0, 0)
    assert typical([56.70], 57.20, printed_seeds=None, known=exact).answer == "confirmed"
    assert typical([56.70], 57.21, printed_seeds=None, known=exact).answer == "lower than printed"
    assert typical([56.70], 57.20, printed_seeds=None, known=exact, rounding=0.005).answer == "not settled"


def test_the_margin_is_an_argument() -> None:
    assert typical(CLOSE, 75.2, printed_seeds=1, margin=0.34).answer == "confirmed"
    assert typical(CLOSE, 75.2, printed_seeds=1, margin=0.33).answer == "not settled"


@pytest.mark.parametrize(("values", "margin"), [([], 0.5), ([75.0], 0.0)])
def test_no_value_or_no_margin_is_refused(values: list[float], margin: float) -> None:
    with pytest.raises(ValueError, match="expected a value and a positive margin"):
        typical(values, 75.0, printed_seeds=1, margin=margin)


def test_the_answers_are_those_of_four_one_sided_t_tests() -> None:
    """Confirmed: both tests of equivalence reject. Lower or higher: a test against the margin rejects."""
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(400):
        values = rng.normal(75 + rng.uniform(-1.5, 1.5), rng.choice([0.2, 0.8]), rng.integers(2, 12))

        def rejects(against: float, side: Literal["less", "greater"], sample: np.ndarray = values) -> bool:
            return bool(stats.ttest_1samp(sample, against, alternative=side).pvalue < LEVEL)

        if rejects(75 - MARGIN, "greater") and rejects(75 + MARGIN, "less"):
            expected = "confirmed"
        elif rejects(75 - MARGIN, "less"):
            expected = "lower than printed"
        else:
            expected = "higher than printed" if rejects(75 + MARGIN, "greater") else "not settled"
        assert typical([float(value) for value in values], 75.0, printed_seeds=1).answer == expected
        seen.add(expected)
    assert seen == set(ANSWERS)


def rates(
    difference: float,
    sd: float,
    seeds: int,
    *,
    known: KnownSpread | None,
    printed_seeds: int = 1,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Returns how often each answer comes out of drawn studies; a printed mean of seeds is drawn too."""
    ours = rng.normal(75 + difference, sd, size=(STUDIES, seeds)).tolist()
    prints = np.full(STUDIES, 75.0)
    if printed_seeds > 1:
        prints = rng.normal(75, sd / math.sqrt(printed_seeds), STUDIES)
    answers = [
        typical(values, float(printed), printed_seeds=printed_seeds, known=known).answer
        for values, printed in zip(ours, prints, strict=True)
    ]
    return {answer: answers.count(answer) / STUDIES for answer in ANSWERS}


@pytest.mark.parametrize("sd", [0.25, 0.84])
@pytest.mark.parametrize("seeds", [1, 3, 5, 10])
@pytest.mark.parametrize("difference", [0.0, 0.3, 1.0, 2.0])
def test_error_rates_over_drawn_studies_are_those_that_are_stated(
    difference: float, seeds: int, sd: float
) -> None:
    """Of 2,000 studies a rate of p is off by less than 4 sqrt(p (1 - p) / 2000), give or take two studies."""
    rng = np.random.default_rng(int(100 * difference) + 1000 * seeds)
    known = KnownSpread(sd, 50)
    for sign in (1, -1):
        found = rates(sign * difference, sd, seeds, known=known, rng=rng)
        stated = answer_chances(sign * difference, sd, seeds, known=known)
        for answer in ANSWERS:
            slack = 4 * math.sqrt(stated[answer] * (1 - stated[answer]) / STUDIES) + 2 / STUDIES
            assert found[answer] == pytest.approx(stated[answer], abs=slack)
        wrong: list[Typical] = (
            ["confirmed"] if difference > MARGIN else ["lower than printed", "higher than printed"]
        )
        assert sum(stated[answer] for answer in wrong) <= LEVEL
        against: Typical = "lower than printed" if sign * difference > 0 else "higher than printed"
        assert stated[against] <= LEVEL


@pytest.mark.parametrize("seeds", [3, 5, 10])
def test_error_rates_hold_at_the_margin_and_with_a_study_that_does_not_fit(seeds: int) -> None:
    """At a difference of exactly the margin every settled answer errs; a spread of 0.2 is much too small."""
    rng = np.random.default_rng(seeds)
    allowed = LEVEL + 4 * math.sqrt(LEVEL * (1 - LEVEL) / STUDIES)
    for known in (None, KnownSpread(0.2, 50)):
        found = rates(MARGIN, 0.84, seeds, known=known, rng=rng)
        assert found["higher than printed"] <= allowed
        assert found["confirmed"] <= allowed


@pytest.mark.parametrize(("difference", "wrong"), [(0.0, "lower than printed"), (1.0, "confirmed")])
def test_error_rates_hold_when_the_print_is_a_drawn_mean_of_five(difference: float, wrong: str) -> None:
    rng = np.random.default_rng(5)
    found = rates(difference, 0.84, 5, known=None, printed_seeds=5, rng=rng)
    assert found[wrong] <= LEVEL


def test_a_print_treated_as_exact_although_it_is_a_mean_of_five_would_err_too_often() -> None:
    """The reason for its error: at the margin the answer is wrong more often than one study in twenty."""
    rng = np.random.default_rng(6)
    ours = rng.normal(75 + MARGIN, 0.84, size=(STUDIES, 5)).tolist()
    prints = rng.normal(75, 0.84 / math.sqrt(5), STUDIES)
    answers = [
        typical(values, float(printed), printed_seeds=1).answer
        for values, printed in zip(ours, prints, strict=True)
    ]
    assert answers.count("higher than printed") / STUDIES > 2 * LEVEL


TEN = {OURS: [74.0, 74.5, 75.0, 75.5, 76.0, 74.2, 74.8, 75.2, 75.8, 75.0]}
"""Mean 75.0, sd 0.6532, t(0.975, 9) = 2.26216: one more run within 75 -+ 1.54977."""


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (75.1, "plausible draw"),
        (75.9, "plausible draw"),  # 9 of 10 below: 55 to 99.7 %
        (76.54, "plausible draw"),  # 10 of 10 below: 69 to 100 %
        (76.56, "out of reach"),
        (73.44, "out of reach"),
    ],
)
def test_a_draw_is_placed_among_ten_runs(printed: float, expected: str) -> None:
    assert drawn(TEN, printed).answer == expected


def test_luck_is_said_only_when_the_binomial_interval_says_it() -> None:
    """Twenty runs, all below: from 83 % on. A spread of two values leaves 76.2 within reach."""
    runs = {OURS: [74.6, 75.4] * 10}
    assert drawn(runs, 75.5).answer == "lucky draw"
    assert drawn(runs, 74.5).answer == "unlucky draw"
    assert drawn(runs, 75.0).answer == "plausible draw"


def test_a_few_runs_can_exclude_a_value_and_never_support_it() -> None:
    """Three runs 75.0, 75.2, 75.4: one more within 75.2 -+ 0.99366."""
    assert drawn({OURS: CLOSE}, 75.2).answer == "too few runs"
    assert drawn({OURS: CLOSE}, 76.20).answer == "out of reach"
    assert drawn({OURS: [75.0]}, 90.0).answer == "too few runs"
    assert drawn({}, 75.0).place is None


def test_fifty_runs_of_one_implementation_are_one_draw() -> None:
    """Fifty tight runs at 74.6 by others exclude nothing, alone or beside two sources; by us they do."""
    tight = [74.4, 74.8] * 25
    alone = drawn({"one": tight}, 76.5)
    assert (alone.answer, alone.reach, alone.runs, alone.sources) == ("too few runs", None, 50, 1)
    assert drawn({"one": tight, "two": [76.2], "three": [76.0]}, 76.5).answer == "too few runs"
    assert drawn({OURS: tight}, 76.5).answer == "out of reach"


def test_a_source_moves_the_place_of_a_print_as_much_with_fifty_runs_as_with_one() -> None:
    others = {str(number): [75.0 + number / 10] for number in range(20)}
    one, fifty = (drawn({**others, "many": [74.0] * count}, 76.4) for count in (1, 50))
    assert one.place == fifty.place
    assert one.answer == fifty.answer


def test_two_sources_do_not_say_how_far_sources_differ() -> None:
    two = {"one": [74.4, 74.8] * 25, "two": [76.2]}
    assert reach_of(two) is None
    assert drawn(two, 76.5).answer == "too few runs"


NEAR = {"a": 75.0, "b": 75.2, "c": 75.4}


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (75.2, "others confirm"),
        (75.37, "others do not settle it"),
        (76.04, "others find less"),
        (74.36, "others find more"),
    ],
)
def test_others_answer_by_their_sources(printed: float, expected: str) -> None:
    found = by_others(NEAR, printed, same_authors=True, searched=True)
    assert (found.answer, found.sources) == (expected, 3)


def test_two_sources_settle_nothing_however_far_they_are() -> None:
    found = by_others({"a": 60.0, "b": 60.1}, 75.0, same_authors=False, searched=True)
    assert (found.answer, found.interval, found.sources) == ("others do not settle it", None, 2)
    assert found.difference == pytest.approx(-14.95)


@pytest.mark.parametrize(
    ("same_authors", "searched", "expected"),
    [
        (False, False, "untested"),
        (True, False, "only its authors"),
        (False, True, "only its authors"),
        (True, True, "only its authors"),
    ],
)
def test_without_others_it_counts_whether_anyone_looked(
    same_authors: bool, searched: bool, expected: str
) -> None:
    assert by_others({}, 75.0, same_authors=same_authors, searched=searched).answer == expected


def test_our_seeds_decide_the_word_of_a_cell_where_there_are_any() -> None:
    others = by_others(NEAR, 75.2, same_authors=False, searched=True)
    assert finding(None, others) == "others confirm"
    assert finding(typical([75.2], 75.2, printed_seeds=1), others) == "not settled"


def test_the_scale_has_ten_words() -> None:
    assert len(FINDINGS) == len(set(FINDINGS)) == 10
    assert Interval(0.0, 1.0).holds(1.0)
