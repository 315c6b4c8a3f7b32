"""Two systems side by side: which differences are tested, by hand and by SciPy, and numbers of won tasks."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from harness.evidence.schema import ResultFile
from harness.evidence.statistics import StandardError
from harness.evidence.system_pairs import (
    SystemComparison,
    TaskName,
    against_all,
    compare_systems,
    system_scores,
)
from harness.report.pages.compare import compare_values, written
from harness.report.pages.content import Report
from tests.harness.report.made_results import result

STSB = TaskName("STSB", "spearman", "all", "senteval")
SETS = ["STS12", "STS13", "MR"]


def compared(results: list[ResultFile], **more: object) -> SystemComparison:
    """The comparison of systems `a` and `b`."""
    systems = system_scores(results)
    return compare_systems(systems["a@b"], systems["b@b"], **more)


def scored(name: str, values: list[float], task: str = "STSB", last_step: int = 1) -> list[ResultFile]:
    return [
        result(name, seed, {(task, "all"): value}, last_step=last_step) for seed, value in enumerate(values)
    ]


def drawn(seeds: int, *, shift: float) -> tuple[np.ndarray, list[ResultFile]]:
    """Scores of systems `a` and `b` [2, 3, seeds], and their results; `a` is higher by shift on average."""
    scores = np.random.default_rng(seeds).normal(0.5, 0.02, size=(2, 3, seeds))
    scores[0] += np.array([shift, shift / 3, 2 * shift])[:, None]
    results = [
        result(system, seed, {(task, "all"): float(scores[side, row, seed])}, metric="spearman")
        for side, system in enumerate("ab")
        for row, task in enumerate(SETS)
        for seed in range(seeds)
    ]
    return scores, results


@pytest.mark.parametrize("seeds", [2, 3, 5, 12])
def test_the_mean_has_welchs_interval_and_test_sets_have_none_while_it_is_open(seeds: int) -> None:
    scores, results = drawn(seeds, shift=0.0)
    actual = compared(results)
    assert actual.mean is not None
    test = stats.ttest_ind(*scores.mean(axis=1), equal_var=False)
    assert actual.mean.interval == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert actual.mean.difference == pytest.approx(scores[0].mean() - scores[1].mean())
    assert actual.mean.outcome == "inconclusive"
    assert {difference.interval for difference in actual.tasks.values()} == {None}
    assert actual.tally["inconclusive"] == 3


@pytest.mark.parametrize("shift", [0.02, 0.03, 0.06, -0.06])
def test_test_sets_are_won_by_holms_steps_if_the_mean_is_won(shift: float) -> None:
    """Intervals have the level of their step: they exclude zero where SciPy's p-values hold."""
    scores, results = drawn(10, shift=shift)
    actual = compared(results)
    assert actual.mean is not None
    assert actual.mean.outcome == ("won" if shift > 0 else "lost")
    p = [stats.ttest_ind(*scores[:, row], equal_var=False).pvalue for row in range(3)]
    holds = multipletests(p, method="holm")[0].tolist()
    decided = [difference.outcome in ("won", "lost") for difference in actual.tasks.values()]
    assert decided == holds
    for row, difference in enumerate(actual.tasks.values()):
        assert difference.level is not None
        test = stats.ttest_ind(*scores[:, row], equal_var=False)
        assert difference.interval == pytest.approx(tuple(test.confidence_interval(1 - difference.level)))
    assert min(difference.level or 1 for difference in actual.tasks.values()) == pytest.approx(0.05 / 3)


def test_a_copy_with_a_small_change_is_compared_seed_by_seed() -> None:
    """The copy is higher by 0.001, 0.002, 0.003: 0.002 +- 4.3027 x 0.001 / sqrt(3) = 0.002484."""
    base = [0.40, 0.50, 0.60]
    copied = [score + change for score, change in zip(base, (0.001, 0.002, 0.003), strict=True)]
    actual = compared([*scored("a", copied), *scored("b", base)]).mean
    assert actual is not None
    assert actual.paired
    assert actual.interval == pytest.approx((0.002 - 0.002484, 0.002 + 0.002484), abs=1e-6)
    assert actual.reason == "over paired seeds"
    other = compared([*scored("a", copied), *scored("b", [0.55, 0.45, 0.5])]).mean
    assert other is not None
    assert not other.paired


def test_known_errors_over_pairs_are_those_of_the_mean_too() -> None:
    """Two sets with errors 0.03 and 0.04 over pairs: 0.05 / 2 for their mean."""
    results = [result(name, seed, {("STS12", "all"): 0.5 + seed / 100, ("STSB", "all"): 0.6}) for name in "ab"
               for seed in range(3)]  # fmt: skip
    names = [STSB._replace(task="STS12"), STSB]
    errors = [StandardError(size, float("inf")) for size in (0.03, 0.04)]
    actual = compared(results, pairs=dict(zip(names, errors, strict=True)))
    assert actual.mean is not None
    assert actual.mean.over_pairs is not None
    assert actual.mean.over_pairs.size == pytest.approx(0.025)
    without = compared(results, pairs={STSB: errors[1]}).mean
    assert without is not None
    assert without.over_pairs is None


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
    assert actual.mean.seeds == (2, 2)
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
    assert (mean.difference, mean.seeds) == (pytest.approx(0.25), (2, 2))
    chosen = values["comparisons"]
    assert [chosen["keys"][place] for place in (chosen["best"], *chosen["jointly"])] == ["a@b", "b@b", "c@b"]
    assert chosen["jointly"][chosen["keys"].index("b@b")] == written(mean)
    assert compare_values(replace(report, results=results[:2])) is None


def test_the_best_is_held_to_the_studentized_range_with_the_variances_of_each_pair() -> None:
    """Games and Howell 1976: half the width is q sqrt((va / m + vb / n) / 2), with Welch's degrees.

    `c` does not train and has no error; the test sets have Holm's level where the mean is decided.
    """
    ours, theirs = [0.70, 0.72, 0.74, 0.71], [0.50, 0.51, 0.52]
    results = [*scored("a", ours), *scored("b", theirs), *scored("c", [0.95], last_step=0)]
    systems = system_scores(results)
    actual = {compared.second: compared for compared in against_all(systems["a@b"], [*systems.values()])}
    assert actual.keys() == {"b@b", "c@b"}
    one, other = np.var(ours, ddof=1) / 4, np.var(theirs, ddof=1) / 3
    freedom = (one + other) ** 2 / (one**2 / 3 + other**2 / 2)
    for key, difference, variance, degrees in (
        ("b@b", 0.2075, one + other, freedom),
        ("c@b", -0.2325, one, 3),
    ):
        half = stats.studentized_range.isf(0.05, 3, degrees) * (variance / 2) ** 0.5
        mean = actual[key].mean
        assert mean is not None
        assert mean.difference == pytest.approx(difference)
        assert mean.interval == pytest.approx((difference - half, difference + half), rel=2e-3), key
        assert [each.level for each in actual[key].tasks.values()] == [0.05]
