"""The tests of a reported number have their nominal error rates."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.verdicts.studies import Studies, reported_numbers
from harness.evidence.number_tests import (
    AMONG_SOURCES,
    AT_A_LOOK,
    LEVEL,
    MARGIN,
    Origin,
    PValues,
    p_values_of_sources,
)
from harness.evidence.verdicts import Sources, by_others

STUDIES = 40_000
ERROR = 4 * (LEVEL * (1 - LEVEL) / STUDIES) ** 0.5
"""Four standard errors of a rate of LEVEL."""


@pytest.mark.parametrize("seeds", [5, 10])
@pytest.mark.parametrize("averaged", [1, 3])
def test_the_interval_of_one_more_result_misses_it_at_its_level(seeds: int, averaged: int) -> None:
    rng, origin = np.random.default_rng(seeds), Origin(averaged)
    study = Studies.normal(rng, 0.8, reported_numbers(rng, 0.8, STUDIES, origin))
    p = study.p_values(seeds, origin)
    for level in (LEVEL, AT_A_LOOK):
        assert (p.replicates < level).mean() == pytest.approx(level, abs=ERROR)


@pytest.mark.parametrize("origin", [Origin(1, 5), Origin(1, 10), Origin(3, 5)])
def test_the_upper_end_for_a_choice_on_dev_misses_it_at_half_of_its_level(origin: Origin) -> None:
    rng = np.random.default_rng(7)
    study = Studies.normal(rng, 0.8, reported_numbers(rng, 0.8, STUDIES, origin))
    missed = (study.p_values(5, origin).replicates < LEVEL) & (study.differences(5) < 0)
    assert missed.mean() == pytest.approx(LEVEL / 2, abs=ERROR)


@pytest.mark.parametrize("shift", [MARGIN, -MARGIN])
def test_both_tests_of_the_level_err_at_their_level_on_the_margin(shift: float) -> None:
    study = Studies.normal(np.random.default_rng(8), 0.1, np.full(STUDIES, shift))
    p = study.p_values(10, Origin())
    assert (p.same < LEVEL).mean() == pytest.approx(LEVEL, abs=ERROR)
    assert (p.level_differs < LEVEL).mean() == pytest.approx(LEVEL, abs=ERROR)


def by_single_runs(runs: np.ndarray, reported: np.ndarray, origin: Origin) -> PValues:
    """Returns the p-values of sources of one run each; runs: [sources, studies]."""
    away, sds = runs.mean(axis=0) - reported, runs.std(axis=0, ddof=1)
    return p_values_of_sources(away, sds, [1] * len(runs), origin=origin)


@pytest.mark.parametrize("count", [3, 8, 15])
def test_one_more_run_among_single_runs_of_sources_is_outside_at_its_level(count: int) -> None:
    rng = np.random.default_rng(count)
    runs, reported = rng.normal(size=(count, STUDIES)), rng.normal(size=STUDIES)
    actual = by_single_runs(runs, reported, Origin())
    for level in (LEVEL, AMONG_SOURCES):
        assert (actual.replicates < level).mean() == pytest.approx(level, abs=ERROR)
    exact = stats.t.sf(np.abs(found_statistic(runs, reported)), count - 1) * 2
    assert actual.replicates == pytest.approx(exact, rel=1e-6)


def found_statistic(runs: np.ndarray, reported: np.ndarray) -> np.ndarray:
    """Returns Student's t of one more run, written out."""
    variances = ((runs - runs.mean(axis=0)) ** 2).sum(axis=0) / (len(runs) - 1)
    return np.asarray((runs.mean(axis=0) - reported) / np.sqrt(variances * (1 + 1 / len(runs))))


@pytest.mark.parametrize("drawn", [Origin(), Origin(5), Origin(5, 5)])
def test_means_of_several_runs_show_the_part_of_the_variance_that_their_sources_hide(drawn: Origin) -> None:
    """Fifteen sources of ten runs that reproduce the same: at most the level, and four sds more are seen."""
    rng, counts = np.random.default_rng(9), [10] * 15
    means, within = rng.normal(0, 1 / 10**0.5, (15, STUDIES)), rng.chisquare(135, STUDIES) / 135
    reported = reported_numbers(rng, 1.0, STUDIES, drawn)
    rates = []
    for shift in (0.0, 4.0):
        away, sds = means.mean(axis=0) - reported - shift, means.std(axis=0, ddof=1)
        p = p_values_of_sources(away, sds, counts, origin=drawn, within=within)
        rates.append((p.replicates < AMONG_SOURCES).mean())
    assert rates[0] <= AMONG_SOURCES + ERROR
    assert rates[1] > 0.7


def test_the_hidden_part_of_the_variance_is_a_mean_over_the_sources() -> None:
    """Sources of 1, 1 and 4 runs hide 0, 0 and 3/4 of the variance of a run: a quarter on average.

    Between them 0.25 and within them 0.2: another run varies by 0.3, and by 4/3 of that from their mean.
    """
    p = p_values_of_sources(-1.0, 0.5, [1, 1, 4], origin=Origin(), within=0.2)
    assert p.replicates == pytest.approx(2 * stats.t.sf(1 / (0.3 * 4 / 3) ** 0.5, 2))


def test_a_number_that_others_judge_is_a_hypothesis_below_the_level_where_it_is_red() -> None:
    """The draw counts at its smaller level, so that its p-value is the larger by LEVEL / AMONG_SOURCES."""
    runs = {"a": [75.0], "b": [75.2], "c": [75.4]}
    sources = Sources({name: run[0] for name, run in runs.items()}, dict.fromkeys(runs, 1), runs)
    for reported, red in ((76.49, False), (76.52, True)):
        answer = by_others(sources, reported, origin=Origin(), same_authors=False, searched=True)
        t = (reported - 75.2) / (0.2 * (4 / 3) ** 0.5)
        assert answer.p == pytest.approx(2 * stats.t.sf(t, 2) * LEVEL / AMONG_SOURCES)
        assert (answer.p < LEVEL) == red
