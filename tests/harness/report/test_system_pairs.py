"""Two systems side by side: differences of paired seeds by hand, and when a task is won."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from harness.evidence.comparisons import critical_range
from harness.evidence.schema import ResultFile
from harness.evidence.statistics import Interval
from harness.report.pages.compare import compare_values
from harness.report.pages.content import Report
from harness.report.system_pairs import (
    OverItems,
    PairedDifference,
    SystemComparison,
    TaskName,
    against_all,
    compare_systems,
    difference_of,
    system_scores,
)
from tests.harness.report.made_results import result

FIRST = {0: 0.71, 1: 0.73, 2: 0.75}
SECOND = {0: 0.70, 1: 0.71, 2: 0.72, 3: 0.99}
AWAY, ZERO = Interval(0.05, 0.2), Interval(-0.01, 0.3)
STSB = TaskName("STSB", "spearman", "all", "senteval")


def compared(results: list[ResultFile], **more: object) -> SystemComparison:
    """The comparison of systems `a` and `b`."""
    systems = system_scores(results)
    return compare_systems(systems["a@b"], systems["b@b"], **more)


def scored(name: str, values: list[float], task: str = "STSB", last_step: int = 1) -> list[ResultFile]:
    return [
        result(name, seed, {(task, "all"): value}, last_step=last_step) for seed, value in enumerate(values)
    ]


def test_seeds_that_both_have_are_paired_and_the_interval_is_students() -> None:
    """Differences 0.01, 0.02, 0.03: mean 0.02, sd 0.01, t(2) = 4.3027; seed 3 has no partner."""
    actual = difference_of(FIRST, SECOND)
    assert (actual.difference, actual.paired, actual.outcome) == (pytest.approx(0.02), 3, "inconclusive")
    assert actual.seeds is not None
    assert tuple(actual.seeds) == pytest.approx((0.02 - 0.024841, 0.02 + 0.024841), abs=1e-6)
    assert (actual.first, actual.second) == (pytest.approx(0.73), pytest.approx(0.71))


@pytest.mark.parametrize("seeds", [2, 3, 5, 12])
def test_the_intervals_of_tasks_equal_scipys_paired_t_test_at_their_share_of_the_level(
    seeds: int,
) -> None:
    """Three test sets and 5 % together leave 5/3 % for each; the mean of the three has all of it."""
    draw = np.random.default_rng(seeds)
    names = ["STS12", "STS13", "MR"]
    values = {system: draw.normal(0.5, 0.02, size=(3, seeds)) for system in "ab"}
    results = [
        result(system, seed, {(task, "all"): float(values[system][row, seed])}, metric="spearman")
        for system in "ab"
        for row, task in enumerate(names)
        for seed in range(seeds)
    ]
    actual = compared(results)
    assert actual.mean is not None
    differences = {name.task: difference for name, difference in actual.tasks.items()}
    assert list(differences) == names
    for row, task in enumerate(names):
        tested = stats.ttest_rel(values["a"][row], values["b"][row])
        assert differences[task].seeds == pytest.approx(tuple(tested.confidence_interval(1 - 0.05 / 3)))
        assert differences[task].difference == pytest.approx((values["a"] - values["b"])[row].mean())
    whole = stats.ttest_rel(values["a"].mean(axis=0), values["b"].mean(axis=0))
    assert actual.mean.seeds == pytest.approx(tuple(whole.confidence_interval(0.95)))


@pytest.mark.parametrize(
    ("interval", "outcome"),
    [
        ((0.0, 0.2), "inconclusive"),
        ((1e-6, 0.2), "won"),
        ((-0.2, 0.0), "inconclusive"),
        ((-0.2, -1e-6), "lost"),
    ],
)
def test_an_interval_that_ends_at_zero_holds_it(interval: tuple[float, float], outcome: str) -> None:
    assert PairedDifference(0.5, 0.5, sum(interval) / 2, 3, Interval(*interval)).outcome == outcome


def test_a_side_without_seeds_goes_with_every_seed_and_sides_exchanged_give_the_opposite() -> None:
    """Against a fixed 0.60 the differences are 0.11, 0.13, 0.15: mean 0.13, half width 0.04968."""
    fixed = {7: 0.60}
    forward = difference_of(FIRST, fixed, exact=(False, True))
    back = difference_of(fixed, FIRST, exact=(True, False))
    assert (forward.outcome, forward.paired, back.outcome, back.paired) == ("won", 3, "lost", 3)
    assert back.difference == pytest.approx(-forward.difference)
    assert forward.seeds is not None
    assert back.seeds is not None
    assert forward.seeds.low == pytest.approx(0.13 - 0.04968, abs=1e-5)
    assert back.seeds.high == pytest.approx(-forward.seeds.low)


def test_two_sides_without_seeds_have_no_interval_over_seeds_and_are_judged_over_pairs() -> None:
    actual = difference_of({0: 0.75}, {5: 0.5}, exact=(True, True))
    assert (actual.seeds, actual.paired, actual.outcome) == (None, 1, "inconclusive")
    assert actual.reason == (
        "over pairs of sentences, whose interval is not known: no score depends on a seed"
    )
    over = OverItems(Interval(0.2, 0.3))
    known = difference_of({0: 0.75}, {5: 0.5}, exact=(True, True), over=over)
    assert (known.seeds, known.outcome) == (None, "won")
    assert known.reason == "over pairs of sentences: no score depends on a seed"


@pytest.mark.parametrize(
    ("seeds", "joint", "words"),
    [
        ((0.0001, 0.0049), None, "won by < 0.5"),
        ((0.0001, 0.0051), None, "won"),  # it may be more than half a point
        ((0.0001, 0.0049), (0.0001, 0.0051), "won"),
        ((-0.0049, -0.0001), (-0.0048, -0.0002), "lost by < 0.5"),
        ((-0.0001, 0.0003), None, "inconclusive"),
    ],
)
def test_a_task_won_by_less_than_half_a_point_by_every_interval_is_won_by_less_than_matters(
    seeds: tuple[float, float], joint: tuple[float, float] | None, words: str
) -> None:
    over = OverItems(joint=None if joint is None else Interval(*joint))
    small = PairedDifference(0.5, 0.5, sum(seeds) / 2, 3, Interval(*seeds), over)
    assert small.in_words == words
    large = PairedDifference(0.6, 0.5, 0.1, 3, AWAY)
    name = TaskName("T", "map", "all", "raw")
    both = SystemComparison("a@b", "c@b", {name: large, name._replace(task="U"): small}, None)
    more = "; 1 won or lost by less than 0.5 points, which counts as the same"
    assert both.in_words.partition(" test sets")[2] == (more if "<" in words else "")


def test_a_single_seed_has_no_interval_whether_the_other_side_has_it_or_not() -> None:
    """The run of seed 1 is compared with seed 1; the run of seed 8 with the mean over all seeds, 0.73."""
    for seed, paired in ((1, 1), (8, 0)):
        actual = difference_of({seed: 0.90}, FIRST)
        assert actual.difference == pytest.approx(0.17)
        assert (actual.paired, actual.seeds, actual.outcome) == (paired, None, "inconclusive")


@pytest.mark.parametrize(
    ("seeds", "pairs", "joint", "outcome"),
    [
        (None, None, None, "inconclusive"),
        (None, AWAY, None, "inconclusive"),  # one seed: other seeds may give anything
        (AWAY, None, None, "won"),
        (AWAY, ZERO, AWAY, "won"),  # the joint interval has the pairs in it
        (AWAY, AWAY, ZERO, "inconclusive"),
        (ZERO, AWAY, AWAY, "inconclusive"),
    ],
)
def test_trained_systems_are_compared_over_seeds_and_jointly(
    seeds: Interval | None, pairs: Interval | None, joint: Interval | None, outcome: str
) -> None:
    actual = PairedDifference(0.6, 0.5, 0.1, 3, seeds, OverItems(pairs, joint))
    assert actual.outcome == outcome
    assert ("inconclusive over seeds" in actual.reason) == (seeds is None)


def test_test_sets_are_won_by_bonferronis_intervals_and_not_by_holms_steps() -> None:
    """p is 0.007, 0.021 and 0.041 on three test sets: all are below Holm's levels, one below 0.05 / 3."""
    noise = [-2e-3, -1e-3, 0.0, 1e-3, 2e-3]
    shifts = {"STS12": 3.6e-3, "STS13": 2.6e-3, "STS14": 2.1e-3}
    ours = [r for task, shift in shifts.items() for r in scored("a", [0.5 + shift + n for n in noise], task)]
    theirs = [r for task in shifts for r in scored("b", [0.5] * 5, task)]
    actual = compared([*ours, *theirs])
    p = [stats.ttest_1samp([shift + n for n in noise], 0).pvalue for shift in shifts.values()]
    won = [difference.outcome == "won" for difference in actual.tasks.values()]
    assert won == multipletests(p, method="bonferroni")[0].tolist()
    assert won != multipletests(p, method="holm")[0].tolist()


def test_a_test_set_where_all_differences_are_zero_is_equal() -> None:
    equal = compared([*scored("a", [0.5, 0.6]), *scored("b", [0.5, 0.6])])
    assert equal.tally == {"won": 0, "lost": 0, "inconclusive": 0, "equal": 1}


def test_the_mean_is_over_shared_test_sets_and_seeds() -> None:
    """Seed 2 of `a` lacks STS13, so the mean is over seeds 0 and 1; STS14 is of `a` alone."""
    results = [
        result(name, seed, {("STS12", "all"): value, ("STS13", "all"): value + 0.1, ("STSB-dev", "all"): 0.9})
        for name, value in (("a", 0.5), ("b", 0.4))
        for seed in range(2)
    ]
    results += [result("a", 2, {("STS12", "all"): 0.9}), *scored("a", [0.1], task="STS14")]
    actual = compared([*results, result("b", 2, {("STS12", "all"): 0.8})])
    assert [name.task for name in actual.tasks] == ["STS12", "STS13"]
    assert actual.mean is not None
    assert actual.mean.paired == 2
    assert (actual.mean.difference, actual.mean.first) == pytest.approx((0.1, 0.55))


def test_a_test_set_has_one_headline_score_and_development_sets_have_none() -> None:
    made = result("a", 0, {("STS12", "all"): 0.5, ("STS12", "mean"): 0.6, ("STSB-dev", "all"): 0.7})
    picked = result("a", 0, {("STS12-part:easy=1", "all"): 0.5})
    accuracy = result("a", 0, {("MR", "10 folds"): 0.8, ("MR", "other"): 0.9}, metric="accuracy")
    last = [score.model_copy(update={"selection": "last", "value": 0.1}) for score in made.scores]
    made = made.model_copy(update={"scores": [*made.scores, *last]})
    (system,) = system_scores([made, picked, accuracy]).values()
    assert system.tasks == {
        STSB._replace(task="STS12"): {0: 0.5},
        TaskName("MR", "accuracy", "10 folds", "senteval"): {0: 0.8},
    }


def test_a_system_is_free_of_seeds_only_if_no_run_of_it_took_a_step() -> None:
    first, second = scored("a", [0.5], last_step=0), scored("a", [0.5, 0.6])[1:]
    assert system_scores(first)["a@b"].exact
    assert not system_scores([*first, *second])["a@b"].exact
    assert not system_scores([*second, *first])["a@b"].exact


def test_the_page_compares_the_best_trained_system_with_every_one_that_it_shares_a_test_set_with() -> None:
    """`c` scores highest and does not train, `d` has another set; `a` is compared with `b` and `c`."""
    fixed = scored("c", [0.9], last_step=0)
    results = (*scored("b", [0.5, 0.6]), *scored("a", [0.7, 0.9]), *fixed)
    report = Report("T", "abc", results=(*results, *scored("d", [0.1], task="MR")))
    values = compare_values(report)
    assert values is not None
    assert values["best"].key == "a@b"
    assert [system.key for system, _ in values["rows"]] == ["b@b", "c@b"]
    mean = values["rows"][0][1].mean
    assert (mean.difference, mean.paired) == (pytest.approx(0.25), 2)
    half = critical_range(3, 2) * ((0.005 + 0.02) / 2 / 2) ** 0.5
    assert mean.seeds == pytest.approx((0.25 - half, 0.25 + half)), "Tukey's range of three with a pooled sd"
    assert compare_values(replace(report, results=results[:2])) is None


def test_the_level_of_a_test_set_is_its_share_of_those_that_the_two_systems_have_in_common() -> None:
    """`a` and `b` share two sets, `a` and `c` one; `c` does not train and has no error.

    Half the width is q sqrt(v (1/m + 1/n) / 2), with q of SciPy's studentized range and the variance v within
    the systems that train: (0.02 + 0.005) / 2 and (0.005 + 0.0002) / 2, each with two degrees of freedom.
    """
    results = [*scored("a", [0.7, 0.9]), *scored("a", [0.7, 0.8], task="STS12")]
    results += [*scored("b", [0.5, 0.6]), *scored("b", [0.5, 0.52], task="STS12")]
    systems = system_scores([*results, *scored("c", [0.95], last_step=0)])
    actual = {compared.second: compared for compared in against_all(systems["a@b"], [*systems.values()])}
    assert actual.keys() == {"b@b", "c@b"}
    expected = {
        ("b@b", "STSB"): (0.25, 0.05 / 2, 3, 0.0125, 1.0),
        ("b@b", "STS12"): (0.24, 0.05 / 2, 2, 0.0026, 1.0),
        ("c@b", "STSB"): (-0.15, 0.05, 3, 0.0125, 0.5),
    }
    shown = {
        (key, name.task): of for key, comparison in actual.items() for name, of in comparison.tasks.items()
    }
    assert shown.keys() == expected.keys()
    for key, (difference, level, groups, variance, parts) in expected.items():
        half = stats.studentized_range.isf(level, groups, 2) * (variance * parts / 2) ** 0.5
        assert shown[key].difference == pytest.approx(difference)
        assert shown[key].seeds == pytest.approx((difference - half, difference + half), abs=1e-6), key
