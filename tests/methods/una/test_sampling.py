"""Replacements: exact distributions, windows, and what is drawn where nothing is relevant."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from methods.una.sampling import draw, draw_any
from methods.una.terms import Ranking
from tests.methods.una.test_terms import TOY, counted

DRAWS = 100_000


def ranking_of(relevance: list[float]) -> Ranking:
    weights = np.array(relevance)
    names, mass = [f"t{rank}" for rank in range(len(weights))], np.concatenate([[0.0], np.cumsum(weights)])
    return Ranking(names, np.arange(len(weights)), weights, np.ones(len(weights)), mass)


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
