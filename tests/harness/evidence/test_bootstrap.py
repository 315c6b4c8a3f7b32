"""The bootstrap over pairs: equality with a plain loop and with theory, and repeatability."""

import numpy as np
import pytest
from scipy import stats

from harness.evidence.resampling import percentile_interval, resampled_correlations, standard_error


def made(n: int, seed: int, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Gold scores with many ties, as in STS, and similarities that follow them."""
    draw = np.random.default_rng(seed)
    gold = draw.integers(0, 11, size=n) / 2
    return gold, np.round(gold + noise * draw.normal(size=n), 1)


@pytest.mark.parametrize(("ranked", "plain"), [(True, stats.spearmanr), (False, stats.pearsonr)])
def test_every_draw_has_the_correlation_of_the_pairs_drawn(ranked: bool, plain: object) -> None:
    """The slow way: draw the pairs with the same stream and let scipy rank and correlate them."""
    gold, similarities = made(60, 1)
    fast = resampled_correlations(gold, [similarities], ranked=ranked, stream=[3, 4], resamples=20)[0]
    draw = np.random.default_rng([3, 4])
    for value in fast:
        rows = draw.integers(len(gold), size=len(gold))
        assert value == pytest.approx(plain(gold[rows], similarities[rows])[0], abs=1e-12)  # type: ignore[operator]


def test_equal_streams_give_equal_draws_and_systems_share_them() -> None:
    gold, similarities = made(80, 2)

    def draws(stream: int, *systems: np.ndarray) -> np.ndarray:
        return resampled_correlations(gold, systems, ranked=True, stream=[0, stream], resamples=50)

    two = draws(1, similarities, -similarities)
    assert np.array_equal(draws(1, similarities)[0], two[0])
    assert two[1] == pytest.approx(-two[0], abs=1e-12)
    assert not np.array_equal(draws(2, similarities)[0], two[0])


def test_the_interval_is_as_wide_as_theory_says() -> None:
    """Pearson of normal pairs: Fisher's interval at n = 400 and r = 0.8 is 0.0707 wide."""
    draw = np.random.default_rng(0)
    first = draw.normal(size=400)
    second = 0.8 * first + 0.6 * draw.normal(size=400)
    r = float(np.corrcoef(first, second)[0, 1])
    (draws,) = resampled_correlations(first, [second], ranked=False, stream=[1])
    ends = np.tanh(np.arctanh(r) + np.array([-1.96, 1.96]) / np.sqrt(397))
    assert percentile_interval(draws) == pytest.approx(tuple(ends), abs=0.01)


def test_draws_that_are_not_defined_are_left_out_and_mostly_undefined_ones_have_no_interval() -> None:
    """Three pairs of which two are equal: a draw of those two alone has no correlation."""
    gold, similarities = np.array([0.0, 0.0, 1.0]), np.array([0.2, 0.2, 0.9])
    (draws,) = resampled_correlations(gold, [similarities], ranked=True, stream=[0], resamples=200)
    assert 0 < np.isnan(draws).sum() < 100
    assert percentile_interval(draws) == pytest.approx((1.0, 1.0))
    assert percentile_interval(np.array([np.nan, np.nan, 1.0])) is None


def test_the_standard_error_is_the_deviation_of_the_defined_draws() -> None:
    error = standard_error(np.array([1.0, 3.0, np.nan, 5.0]))
    assert error is not None
    assert (error.size, error.freedom) == (2.0, float("inf"))
    assert standard_error(np.array([1.0, np.nan, np.nan])) is None


def test_an_interval_leaves_out_the_lowest_and_the_highest_twentieth_halved() -> None:
    """Of the draws 0, 1, ... 1000 in any order, the 2.5 and 97.5 % quantiles are 25 and 975."""
    draws = np.random.default_rng(0).permutation(1001).astype(float)
    assert percentile_interval(draws) == pytest.approx((25.0, 975.0))
    assert percentile_interval(draws, 0.98) == pytest.approx((10.0, 990.0))
    half = np.array([1.0, 3.0, np.nan, np.nan])
    assert percentile_interval(half, 0.5) == pytest.approx((1.5, 2.5)), "half of the draws are enough"


def test_the_interval_of_a_correlation_equals_scipys_bootstrap() -> None:
    """Both draw 4,000 times by separate streams, so that the ends agree to a tenth of the width."""
    gold, similarities = made(120, 7, noise=2.0)
    (draws,) = resampled_correlations(gold, [similarities], ranked=True, stream=[5], resamples=4_000)

    def spearman(*sides: np.ndarray, axis: int = -1) -> np.ndarray:
        first, second = (stats.zscore(stats.rankdata(side, axis=axis), axis=axis) for side in sides)
        return (first * second).mean(axis=axis)

    assert spearman(gold, similarities) == pytest.approx(stats.spearmanr(gold, similarities).statistic)
    theirs = stats.bootstrap(
        (gold, similarities),
        spearman,
        paired=True,
        n_resamples=4_000,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    width = theirs.high - theirs.low
    assert percentile_interval(draws) == pytest.approx((theirs.low, theirs.high), abs=width / 10)
