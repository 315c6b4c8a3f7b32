"""Replacements: a look-up that equals the search, exact distributions, windows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from methods.una.prefix_sums import BUCKETS, SEVERAL, bucket_of, prefix_sums
from methods.una.sampling import draw, draw_any
from methods.una.terms import Ranking
from methods.una.vocabulary import vocabulary
from tests.methods.una.test_terms import TOY, counted

DRAWS = 100_000


def ranking_of(relevance: list[float]) -> Ranking:
    weights = np.array(relevance)
    names = vocabulary(f"t{rank}" for rank in range(len(weights)))
    return Ranking(names, np.arange(len(weights)), weights, np.ones(len(weights)), prefix_sums(weights))


def test_a_target_is_looked_up_in_its_bucket_or_searched_where_terms_meet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Weights 3, 1, 2 in six buckets of width 1: sums 0, 3, 4 and 6 lie in buckets 0, 3, 4 and 6."""
    monkeypatch.setattr("methods.una.prefix_sums.BUCKETS", 2)
    mass = prefix_sums(np.array([3.0, 1.0, 2.0]))
    assert mass.sums.tolist() == [0, 3, 4, 6]
    assert mass.guide.tolist() == [SEVERAL, 0, 0, SEVERAL, SEVERAL, 2, SEVERAL]
    targets = np.array([0, 0.5, 1, 2.999, 3, 3.5, 4, 5, 5.999])
    assert bucket_of(targets, 6.0, 6).tolist() == [0, 0, 1, 2, 3, 3, 4, 5, 5]
    assert mass.locate(targets).tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 2]


@pytest.mark.parametrize(
    "weights",
    [
        np.random.default_rng(0).gamma(0.3, size=3_000),
        np.geomspace(1e9, 1e-9, 500),
        np.repeat([5.0, 0.0, 1.0, 0.0], 50),
        np.ones(1),
    ],
)
def test_locating_equals_a_binary_search_also_on_the_sums_and_beside_them(weights: np.ndarray) -> None:
    mass = prefix_sums(weights)
    assert len(mass.guide) == BUCKETS * len(weights) + 1
    edges = mass.sums[:-1]
    targets = np.concatenate(
        [
            np.random.default_rng(1).random(DRAWS) * mass.sums[-1],
            edges,
            np.nextafter(edges, np.inf),
            np.nextafter(mass.sums[1:], 0),
        ]
    )
    expected = np.searchsorted(mass.sums, targets, side="right") - 1
    np.testing.assert_array_equal(mass.locate(targets), expected)


@pytest.mark.parametrize(
    ("rank", "low", "expected"),
    [(7, 5, [0.292823, 0.292823, 0.292823, 0.121532]), (0, 0, [0.432620, 0.335566, 0.231814])],
)
def test_draws_follow_the_worked_distribution_of_a_window(rank: int, low: int, expected: list[float]) -> None:
    """r = 2. ran (7) draws from sat, dog, ran, the; a (0), at the upper end, from a, fast, on."""
    _, ranking, _ = counted(TOY)
    drawn = draw(ranking, np.full(DRAWS, rank), np.random.default_rng(11), radius=2, other=False)
    counts = np.bincount(drawn - low, minlength=len(expected))
    assert len(counts) == len(expected)
    exact = ranking.relevance[low : low + len(expected)] / ranking.relevance[low : low + len(expected)].sum()
    np.testing.assert_allclose(exact, expected, atol=1e-6)
    assert chisquare(counts, DRAWS * exact).pvalue > 0.01


@pytest.mark.parametrize("other", [False, True])
def test_draws_from_a_wide_window_pass_a_chi_square_test(other: bool) -> None:
    ranking = ranking_of(sorted(np.random.default_rng(3).gamma(2, size=200), reverse=True))
    drawn = draw(ranking, np.full(DRAWS, 50), np.random.default_rng(5), radius=30, other=other)
    weights = ranking.relevance.copy()
    weights[: 50 - 30] = weights[50 + 31 :] = 0
    weights[50] *= not other
    counts = np.bincount(drawn, minlength=200)
    assert counts[weights == 0].sum() == 0
    assert chisquare(counts[weights > 0], DRAWS * weights[weights > 0] / weights.sum()).pvalue > 0.01


def test_windows_hold_2r_plus_1_terms_inside_and_r_plus_1_at_both_ends() -> None:
    ranking, rng = ranking_of([1.0] * 30), np.random.default_rng(0)
    for rank, low, high in [(15, 12, 18), (0, 0, 3), (29, 26, 29), (1, 0, 4), (28, 25, 29)]:
        drawn = draw(ranking, np.full(2_000, rank), rng, radius=3, other=False)
        assert sorted(set(drawn.tolist())) == list(range(low, high + 1))
        others = draw(ranking, np.full(2_000, rank), rng, radius=3, other=True)
        assert sorted(set(others.tolist())) == [j for j in range(low, high + 1) if j != rank]


def test_a_radius_beyond_the_vocabulary_draws_from_all_terms_by_relevance() -> None:
    ranking = ranking_of([4.0, 3.0, 2.0, 1.0])
    for rank in range(4):
        drawn = draw(ranking, np.full(DRAWS, rank), np.random.default_rng(rank), radius=4000, other=False)
        assert (
            chisquare(np.bincount(drawn, minlength=4), DRAWS * np.array([0.4, 0.3, 0.2, 0.1])).pvalue > 0.01
        )


def test_equal_relevance_also_none_at_all_gives_uniform_draws() -> None:
    for relevance in ([2.0] * 9, [5.0] + [0.0] * 8):
        drawn = draw(
            ranking_of(relevance), np.full(DRAWS, 6), np.random.default_rng(1), radius=2, other=False
        )
        assert chisquare(np.bincount(drawn, minlength=9)[4:9]).pvalue > 0.01


def test_without_a_radius_every_term_is_as_likely() -> None:
    ranking = ranking_of([9.0, 1.0, 0.5, 0.1])
    drawn = draw(ranking, np.full(DRAWS, 1), np.random.default_rng(2), radius=None, other=False)
    assert chisquare(np.bincount(drawn, minlength=4)).pvalue > 0.01
    others = draw(ranking, np.full(DRAWS, 1), np.random.default_rng(2), radius=None, other=True)
    assert chisquare(np.bincount(others, minlength=4)[[0, 2, 3]]).pvalue > 0.01
    assert 1 not in others


def test_another_term_is_found_where_all_relevance_is_the_terms_own() -> None:
    ranking = ranking_of([5.0, 0.0, 0.0])
    drawn = draw(ranking, np.zeros(3_000, dtype=np.int64), np.random.default_rng(0), radius=1, other=True)
    assert set(drawn.tolist()) == {1}


def test_a_single_term_is_drawn_by_relevance_above_the_lowest() -> None:
    ranking = ranking_of([5.0, 3.0, 3.0, 1.0])
    counts = np.bincount(draw_any(ranking, DRAWS, np.random.default_rng(4)), minlength=4)
    assert counts[3] == 0
    assert chisquare(counts[:3], DRAWS * np.array([4, 2, 2]) / 8).pvalue > 0.01
    assert set(draw_any(ranking_of([2.0] * 3), 300, np.random.default_rng(4)).tolist()) == {0, 1, 2}
