"""The rules of verdicts: cases worked by hand, and error rates over simulated studies."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from benchmarks.verdicts.others import red_by_others
from benchmarks.verdicts.studies import Studies, reported_numbers
from harness.evidence.comparisons import (
    Pair,
    claimed_among_many,
    mean_differences,
    rank_intervals,
    surviving,
)
from harness.evidence.draws import OURS, placed
from harness.evidence.number_tests import (
    AT_A_LOOK,
    INTERVAL,
    LEVEL,
    LOOKS,
    MARGIN,
    TWO_SIDED_AT_A_LOOK,
    Origin,
    collapsed_runs,
    look_of,
    next_look,
    origin_of,
    over_looks,
    p_values,
)
from harness.evidence.statistics import KnownSd
from harness.evidence.verdicts import Judgement, Sources, by_others, judge, on_record
from harness.evidence.words import WORDS, Level, Verdict

FIVE = [74.8, 75.0, 75.2, 75.4, 75.6]
"""Mean 75.2, sd sqrt(0.1) = 0.31623, its error 0.14142; t(0.984, 4) = 3.22920 gives 0.45668 each way."""
TEN = [74.0, 74.5, 75.0, 75.5, 76.0, 74.2, 74.8, 75.2, 75.8, 75.0]
"""Mean 75.0, sd 0.65320; t(0.984, 9) sd / sqrt(10) = 0.52352."""
STUDY = KnownSd(0.84, 50)
EXACT = KnownSd(0.0, 0)
ONE, FIVE_RUNS, NOT_STATED = Origin(), Origin(5), origin_of(None)


def answers(values: list[float], reported: float, origin: Origin = ONE, **more: float) -> tuple[str, str]:
    judgement = judge(values, reported, origin=origin, **more)  # type: ignore[arg-type]
    return judgement.verdict.level, judgement.verdict.draw


def text(judgement: Judgement) -> str:
    """Returns the word of a judgement."""
    return WORDS[judgement.verdict].text


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        (75.200, ("within half a point", "inside")),
        (75.243, ("within half a point", "inside")),  # 0.043 + 0.45668 = 0.49968
        (75.244, ("not known", "inside")),  # 0.044 + 0.45668 = 0.50068
        (75.820, ("not known", "at the edge")),  # 0.31623 x 1.95996 = 0.61980 is passed by 0.620
        (76.156, ("not known", "at the edge")),  # 0.956 - 0.45668 = 0.49932
        (76.157, ("lower", "at the edge")),  # 0.957 - 0.45668 = 0.50032
        (76.588, ("lower", "at the edge")),  # 0.31623 sqrt(1 + 1/5) t(0.992, 4) = 1.38902
        (76.590, ("lower", "outside")),
        (73.820, ("higher", "at the edge")),
        (73.810, ("higher", "outside")),
    ],
)
def test_five_seeds_give_two_answers(reported: float, expected: tuple[str, str]) -> None:
    assert answers(FIVE, reported) == expected


@pytest.mark.parametrize(
    ("level", "origin", "runs", "draw"),
    [
        ("lower", ONE, [75.2, 76.0], "inside"),
        ("lower", ONE, [75.2, 75.994], "at the edge"),
        ("lower", ONE, [75.2, 75.996], "inside"),  # rounds to the number
        ("lower", NOT_STATED, [75.2, 75.9], "inside as a best"),
        ("lower", NOT_STATED, [75.2, 76.1], "inside"),
        ("lower", Origin(1, 5), [], "inside as a best"),
        ("lower", Origin(5), [], "at the edge"),
        ("higher", ONE, [76.0], "inside"),
        ("higher", ONE, [76.1], "at the edge"),
        ("higher", NOT_STATED, [76.1], "at the edge"),  # choosing on dev moves a number up
        ("within half a point", ONE, [75.2], "inside"),
        ("not known", ONE, [75.2], "inside"),
    ],
)
def test_a_number_off_the_mean_is_inside_only_if_a_run_on_record_reaches_it(
    level: Level, origin: Origin, runs: list[float], draw: str
) -> None:
    """The number is 76.00, printed with two decimals."""
    judgement = Judgement(Verdict("ours", level, "inside"), -0.8, without=Judgement(Verdict("ours")))
    actual = on_record(judgement, runs, 76.0, origin=origin, rounding=0.005)
    assert actual.verdict == Verdict("ours", level, draw)
    for other in ("at the edge", "outside", "not known"):
        kept = replace(judgement, verdict=Verdict("others", level, other))
        assert on_record(kept, runs, 76.0, origin=origin) == kept


def test_a_reported_mean_is_held_to_less_than_one_run_and_an_unknown_origin_to_more() -> None:
    """t(0.992, 4) = 4.00974 times 0.31623 sqrt(1/5 + 1/5) is 0.80195: off by 1.0 is enough."""
    assert answers(FIVE, 76.2, FIVE_RUNS) == ("lower", "outside")
    assert answers(FIVE, 76.2) == ("lower", "at the edge")
    assert answers(FIVE, 77.0) == ("lower", "outside")
    assert answers(FIVE, 77.0, NOT_STATED)[1] == "at the edge"
    assert answers(FIVE, 77.5, NOT_STATED)[1] == "outside"
    assert answers(FIVE, 73.6, NOT_STATED) == ("higher", "outside")  # choosing on dev moves a number up


def test_a_mean_of_bests_is_between_a_mean_and_a_best() -> None:
    """Three of five on dev: above one mean of three, below the best of five alone."""
    best, mean = Origin(1, 5), Origin(3)
    assert origin_of(3, 5) == Origin(3, 5)
    limits = []
    for origin in (mean, Origin(3, 5), best):
        actual = [answers(TEN, 75 + step / 20, origin)[1] for step in range(100)]
        limits.append(actual.index("outside"))
    assert limits[0] < limits[1] < limits[2]


def test_a_favourable_run_is_inside_though_the_mean_is_lower() -> None:
    """Ten seeds: the level is off from 1.02352 on, one run in twenty is beyond 1.28."""
    assert answers(TEN, 76.0)[0] == "not known"
    assert answers(TEN, 76.2) == ("lower", "inside")
    assert answers(TEN, 76.2, FIVE_RUNS) == ("lower", "outside")
    assert answers(TEN, 76.5) == ("lower", "at the edge")
    assert answers(TEN, 76.5, NOT_STATED) == ("lower", "inside")


def test_a_verdict_uses_the_seeds_up_to_the_last_look() -> None:
    assert [look_of(count) for count in (0, 4, 5, 9, 10, 39, 40, 100)] == [0, 0, 5, 5, 10, 20, 40, 40]
    assert [next_look(count) for count in (0, 5, 39, 40)] == [5, 10, 40, None]
    before, between = judge(FIVE, 75.2, origin=ONE), judge([*FIVE, 90.0, 90.0], 75.2, origin=ONE)
    assert before == between
    assert not judge(FIVE[:4], 90.0, origin=ONE).verdict.is_settled
    assert not judge(FIVE, 75.2, origin=ONE, in_order=4).verdict.is_settled, "the fifth declared is missing"


def test_a_larger_study_widens_five_seeds_that_happen_to_agree() -> None:
    """t(0.984, 49) 0.84 / sqrt(5) = 0.82923 each way; ten seeds are judged by themselves."""
    judgement = judge(FIVE, 75.2, origin=ONE, known=STUDY)
    assert text(judgement) == "not settled"
    half = stats.t.ppf(1 - AT_A_LOOK, 49) * 0.84 / math.sqrt(5)
    assert judgement.interval == pytest.approx((-half, half))
    assert judge(FIVE, 77.0, origin=ONE, known=STUDY).verdict.draw == "at the edge"
    assert judge(TEN, 75.2, origin=ONE, known=STUDY) == judge(TEN, 75.2, origin=ONE)


def test_a_deterministic_system_is_compared_as_it_is_give_or_take_the_rounding() -> None:
    assert text(judge([56.70], 57.20, origin=NOT_STATED, known=EXACT)) == "replicates"
    assert text(judge([56.70], 57.21, origin=NOT_STATED, known=EXACT)) == "does not replicate (lower)"
    assert text(judge([56.70], 57.20, origin=NOT_STATED, known=EXACT, rounding=0.005)) == "not settled"


def test_the_rounding_of_a_reported_number_counts_against_each_answer() -> None:
    """Within: 0.040 + 0.005 + 0.45668; off: 0.960 - 0.005 - 0.45668 < 0.5; outside: 1.390 - 0.005."""
    assert answers(FIVE, 75.240, rounding=0.005)[0] == "not known"
    assert answers(FIVE, 76.160)[0] == "lower"
    assert answers(FIVE, 76.160, rounding=0.005)[0] == "not known"
    assert answers(FIVE, 76.590, rounding=0.005)[1] == "at the edge"


def test_the_level_equals_scipys_one_sided_t_tests_and_statsmodels_equivalence_test() -> None:
    from statsmodels.stats.weightstats import DescrStatsW

    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(300):
        count = int(rng.choice([5, 10, 20]))
        values = rng.normal(75 + rng.uniform(-1.5, 1.5), rng.choice([0.2, 0.5]), count)
        low = stats.ttest_1samp(values, 75 - MARGIN, alternative="greater").pvalue
        high = stats.ttest_1samp(values, 75 + MARGIN, alternative="less").pvalue
        equivalence, *_ = DescrStatsW(values).ttost_mean(75 - MARGIN, 75 + MARGIN)
        mean, sd = values.mean() - 75, values.std(ddof=1)
        p = p_values(mean, sd, count, origin=ONE)
        assert float(p.same) == pytest.approx(equivalence)
        assert float(p.same) == pytest.approx(max(low, high))
        assert float(p.level_differs) == pytest.approx(min(1 - low, 1 - high))
        level = judge(values.tolist(), 75.0, origin=FIVE_RUNS).verdict.level
        assert (level == "within half a point") == (equivalence < AT_A_LOOK)
        assert (level in ("lower", "higher")) == (min(1 - low, 1 - high) < AT_A_LOOK)
        seen.add(level)
    assert len(seen) == 4
    assert pytest.approx(1 - 2 * AT_A_LOOK) == INTERVAL


def test_the_draw_is_outside_where_the_prediction_interval_ends() -> None:
    """Against Student's two-sided quantile times s sqrt(1/k + 1/n)."""
    for origin in (ONE, Origin(3)):
        half = stats.t.ppf(1 - AT_A_LOOK / 2, 9) * np.std(TEN, ddof=1) * math.sqrt(1 / origin.averaged + 0.1)
        assert answers(TEN, 75 + half - 1e-6, origin)[1] == "at the edge"
        assert answers(TEN, 75 + half + 1e-6, origin)[1] == "outside"


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
        (Origin(3, 5), Origin(3, 5)),
    ],
)
def test_honest_numbers_fail_in_at_most_one_study_of_twenty_after_any_number_of_looks(
    sd: float, law: Origin, judged: Origin
) -> None:
    rng = np.random.default_rng(3)
    studies = Studies.normal(rng, sd, reported_numbers(rng, sd, STUDIES, law))
    assert studies.fails(judged) <= LEVEL


@pytest.mark.parametrize("sd", [0.25, 0.8])
@pytest.mark.parametrize("shift", [MARGIN, -MARGIN, 1.0])
def test_numbers_that_are_off_replicate_in_at_most_one_study_of_twenty(sd: float, shift: float) -> None:
    studies = Studies.normal(np.random.default_rng(4), sd, np.full(STUDIES, shift))
    assert studies.replicates() <= LEVEL + 3 * math.sqrt(LEVEL / STUDIES)


def test_the_levels_of_single_looks_keep_the_joint_level() -> None:
    """The share of t tests with p below the level at one look of four or more, one-sided and two-sided."""
    studies = Studies.normal(np.random.default_rng(5), 1.0, np.zeros(100_000))
    p = [stats.t.sf(studies.means[n - 1] / studies.sds[n - 1] * math.sqrt(n), n - 1) for n in LOOKS]
    one_sided, two_sided = np.min(p, axis=0), 2 * np.min(np.minimum(p, 1 - np.array(p)), axis=0)
    assert (one_sided < AT_A_LOOK).mean() == pytest.approx(LEVEL, abs=0.002)
    assert (two_sided < TWO_SIDED_AT_A_LOOK).mean() == pytest.approx(LEVEL, abs=0.002)
    for smallest in (0.001, 0.005, 0.012, 0.015):
        assert (one_sided < smallest).mean() <= over_looks(smallest) + 0.001
    assert over_looks(0.0159) == LEVEL < over_looks(0.0161)


def test_a_run_far_below_its_siblings_is_named_and_the_verdict_is_given_with_and_without() -> None:
    judgement = judge([*TEN[:9], 55.0], 75.0, origin=ONE)
    assert judgement.collapsed == (55.0,)
    assert judgement.without is not None
    assert not judgement.verdict.is_settled
    assert not judgement.without.verdict.is_settled
    assert judgement.without.count == 9
    tight = judge([*(value / 10 + 67.5 for value in TEN[:9]), 55.0], 75.0, origin=ONE)
    assert tight.without is not None
    assert (text(tight), text(tight.without)) == ("not settled", "replicates")
    assert collapsed_runs([*TEN, 60.0, 55.0]) == [55.0, 60.0]
    assert collapsed_runs([*TEN, 71.0, 20.0]) == [20.0, 71.0], "the lower of two hides no higher one"
    assert collapsed_runs(TEN) == collapsed_runs([*TEN, 73.0]) == []
    assert collapsed_runs([75.0, 75.001, 75.002, 75.003, 74.9]) == [], "less than two points are no collapse"


def test_normal_seeds_seldom_have_a_collapsed_run() -> None:
    rng = np.random.default_rng(6)
    for count in (5, 20):
        named = [bool(collapsed_runs(rng.normal(0, 1.7, count).tolist())) for _ in range(3000)]
        assert np.mean(named) <= 0.02


def test_seeds_with_one_score_are_an_error_in_the_data() -> None:
    judgement = judge([75.0] * 5, 75.0, origin=ONE)
    assert (judgement.verdict, judgement.p, judgement.interval) == (Verdict("ours"), 1.0, None)
    assert judgement.fault == "5 seeds have the same score, 75.0000: an error in the data"
    assert claimed_among_many([Pair([70.0] * 5, [75.0] * 5)]) == [(None, "inconclusive")]
    assert claimed_among_many([Pair([70.0] * 5, FIVE)]) == [(None, "inconclusive")]


def test_benjamini_hochberg_by_hand() -> None:
    """Sorted 0.01, 0.02, 0.03, 0.5 against 0.0125, 0.025, 0.0375, 0.05: the first three hold."""
    assert surviving([0.5, 0.01, 0.03, 0.02]) == [False, True, True, True]
    assert surviving([0.04, 0.5, 0.5, 0.5]) == [False] * 4  # 0.04 alone would hold
    assert surviving([]) == []


A, B, C = [70.0, 70.2, 70.4], [70.1, 70.3, 70.5], [60.0, 60.2, 60.4]


def test_ranks_span_systems_that_do_not_differ() -> None:
    none = [False] * 3
    assert rank_intervals([A, B, C], none) == [(1, 2), (1, 2), (3, 3)]
    assert rank_intervals([A, B, C], none, lower_is_better=True) == [(2, 3), (2, 3), (1, 1)]


def test_a_trained_system_with_one_run_is_apart_from_none_and_untrained_ones_are_exact() -> None:
    assert rank_intervals([[90.0], [60.0]], [False, False]) == [(1, 2), (1, 2)]
    assert rank_intervals([[90.0], [60.0]], [True, True]) == [(1, 1), (2, 2)]
    assert rank_intervals([[90.0], A], [True, False]) == [(1, 1), (2, 2)]
    assert rank_intervals([[90.0], [60.0]], [True, False]) == [(1, 2), (1, 2)]
    assert rank_intervals([[90.0], A, C], [False] * 3) == [(1, 3), (1, 2), (2, 3)]


def test_ranks_equal_welchs_tests_of_all_pairs_with_holms_steps() -> None:
    rng = np.random.default_rng(8)
    seen = set()
    for _ in range(20):
        groups = (rng.normal(size=(4, 5)) + np.array([0, 0.5, 1.5, 4.0])[:, None]).tolist()
        _, apart = mean_differences(groups, [False] * 4)
        pairs = list(combinations(range(4), 2))
        p = [stats.ttest_ind(groups[i], groups[j], equal_var=False).pvalue for i, j in pairs]
        expected = multipletests(p, LEVEL, method="holm")[0]
        assert [apart[i, j] for i, j in pairs] == expected.tolist()
        assert (apart == apart.T).all()
        seen |= set(expected.tolist())
    assert seen == {True, False}


def test_ranks_of_equal_systems_are_wrong_in_at_most_one_table_of_twenty() -> None:
    rng = np.random.default_rng(6)
    wrong = 0
    for _ in range(300):
        groups = (rng.normal(size=(6, 5)) * np.array([0.1, 0.5, 1, 1, 3, 10])[:, None]).tolist()
        wrong += any(ranks != (1, 6) for ranks in rank_intervals(groups, [False] * 6))
    assert wrong / 300 <= LEVEL + 0.02


def test_answers_of_many_claims_have_the_level_of_their_share() -> None:
    """Error 0.2 with 8 degrees of freedom: 0.617 to either side for one of one, 0.809 for one of four."""
    same, near, far = (Pair(FIVE, [value - shift for value in FIVE]) for shift in (0.0, 0.7, 0.9))
    reach = [0.2 * stats.t.ppf(1 - TWO_SIDED_AT_A_LOOK / 2 / share, 8) for share in (1, 4)]
    for pairs, low in (([near], 0.7 - reach[0]), ([far, same, same, same], 0.9 - reach[1])):
        (actual, answer), *_ = claimed_among_many(pairs)
        assert actual is not None
        assert (actual.low, answer) == (pytest.approx(low, abs=1e-3), "supported")
    assert [answer for _, answer in claimed_among_many([near, same, same, same])] == ["inconclusive"] * 4
    early = Pair(FIVE[:3], FIVE[:3])
    alone, *others = claimed_among_many([near, early, early])
    assert [alone] == claimed_among_many([near])
    assert others == [(None, "inconclusive")] * 2


def test_runs_that_round_to_a_number_are_not_above_it() -> None:
    """Reported as 75.00: 75.000 and 75.004 are ties, half of which counts as below it."""
    placement = placed({OURS: [74.0, 75.0, 75.004, 75.006, 76.0]}, 75.0, rounding=0.005)
    assert (placement.above, placement.runs, placement.share.value) == (2, 5, pytest.approx(2 / 5))


def test_a_number_is_placed_among_the_runs_and_each_source_of_others_counts_once() -> None:
    placement = placed({OURS: TEN}, 75.1)
    assert (placement.above, placement.runs, placement.sources, placement.share.value) == (4, 10, 1, 0.6)
    placement = placed({"one": [74.4, 74.8] * 25, "two": [76.2], "three": [76.0]}, 76.1)
    assert (placement.above, placement.runs, placement.sources) == (1, 52, 3)
    assert placement.share.value == pytest.approx(2 / 3)


NEAR = {"a": 75.0, "b": 75.2, "c": 75.4}
"""Mean 75.2, sd 0.2: t(0.95, 2) sd / sqrt(3) = 0.33717; one more run: t(0.985, 2) sd sqrt(4/3) = 1.30333."""


def sources(means: dict[str, float]) -> Sources:
    return Sources(means, dict.fromkeys(means, 1), {name: [value] for name, value in means.items()})


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        (75.2, ("independent runs agree", "inside")),
        (75.37, ("not settled", "inside")),
        (76.04, ("independent mean is lower", "at the edge")),
        (76.50, ("independent mean is lower", "at the edge")),
        (76.51, ("independent runs score lower", "outside")),
        (73.90, ("independent mean is higher", "at the edge")),
        (73.89, ("independent runs score higher", "outside")),
    ],
)
def test_others_answer_twice_by_their_sources(reported: float, expected: tuple[str, str]) -> None:
    answer = by_others(sources(NEAR), reported, origin=ONE, same_authors=True, searched=True)
    assert ((text(answer), answer.verdict.draw), answer.count) == (expected, 3)
    assert (answer.p < LEVEL) == answer.verdict.fails


def test_others_that_vary_leave_an_honest_number_inside() -> None:
    """Fourteen single runs with an sd of 0.84: 76.25 is off their mean of 75.2 and one of them."""
    drawn = stats.norm.ppf(np.linspace(0.05, 0.95, 14), 75.2, 0.84)
    runs = {str(number): float(value) for number, value in enumerate(drawn)}
    answer = by_others(sources(runs), 76.25, origin=NOT_STATED, same_authors=False, searched=True)
    assert answer.verdict == Verdict("others", "lower", "inside")


def test_the_variance_within_sources_is_pooled_by_degrees_of_freedom() -> None:
    """Squares of 2 from two runs and of 6 from three: 8 over 1 + 2. A single run shows no variance."""
    runs = {"a": [74.0, 76.0], "b": [70.0, 70.0, 73.0], "c": [80.0]}
    assert Sources({}, {}, runs).within() == pytest.approx(8 / 3)
    assert Sources({}, {}, {"c": [80.0]}).within() is None


def test_the_spread_of_a_source_with_many_runs_counts_for_one_more_run() -> None:
    """Means 75.0, 75.2, 75.4 of ten runs each: their own sd of 1 hides in the means but for a tenth."""
    runs = {name: [mean - 1, mean + 1] * 5 for name, mean in NEAR.items()}
    many = Sources(NEAR, dict.fromkeys(NEAR, 10), runs)
    inside = by_others(many, 76.6, origin=ONE, same_authors=False, searched=True)
    assert inside.verdict == Verdict("others", "lower", "inside")
    sources = Sources(NEAR, dict.fromkeys(NEAR, 10), {})
    unknown = by_others(sources, 76.6, origin=ONE, same_authors=False, searched=True)
    assert (unknown.verdict, unknown.p) == (Verdict("others", "lower", "not known"), 1.0)
    mean_of_ten = by_others(sources, 76.6, origin=Origin(10), same_authors=False, searched=True)
    assert text(mean_of_ten) == "independent runs score lower", "a mean of ten is compared with such means"


@pytest.mark.parametrize("count", [3, 8, 15])
def test_an_honest_single_run_is_red_by_others_in_at_most_one_of_twenty(count: int) -> None:
    rng, trials = np.random.default_rng(count), 1000
    error = 3 * math.sqrt(LEVEL * (1 - LEVEL) / trials)
    assert red_by_others(rng, [1] * count, studies=trials) <= LEVEL + error
    best = red_by_others(rng, [1] * count, studies=trials, drawn=Origin(1, 10), judged=NOT_STATED)
    assert best <= LEVEL + error
    assert red_by_others(rng, [50, *[1] * (count - 1)], studies=trials, between=0.5) <= LEVEL + error


def test_two_sources_are_inconclusive_at_any_distance() -> None:
    two = sources({"a": 60.0, "b": 60.1})
    answer = by_others(two, 75.0, origin=ONE, same_authors=False, searched=True)
    assert (answer.verdict, answer.interval, answer.count) == (Verdict("others"), None, 2)
    assert answer.difference == pytest.approx(-14.95)


def test_without_others_it_counts_whether_anyone_looked() -> None:
    none = Sources({}, {}, {})
    answers = [
        by_others(none, 75.0, origin=ONE, same_authors=same, searched=searched).verdict.by
        for same, searched in ((False, False), (True, False), (False, True))
    ]
    assert answers == ["nobody", "authors", "authors"]
