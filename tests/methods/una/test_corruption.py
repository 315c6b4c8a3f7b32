"""Selection and replacement: bounds, exact distributions, windows, repair, and the word-by-word form."""

import numpy as np
import pytest
from scipy.stats import chisquare

from methods.una.corruption import corrupt, draw_any, draw_replacements, probabilities, select
from methods.una.terms import Ranking, take
from tests.methods.una.reference import SlowTerms
from tests.methods.una.test_terms import TOY, counted, every, random_documents

SETTINGS = {"by": "tfidf", "magnitude": 0.5, "radius": 4000, "repair": True}


@pytest.mark.parametrize(
    ("index", "magnitude", "expected"),
    [
        (0, 0.5, [0, 0.233073, 0.233073, 1, 0, 1]),
        (1, 0.5, [0, 1, 0.75]),
        (2, 0.5, [1, 0, 0]),
        (3, 0.5, [0, 0.424673, 0.424673, 1]),
        (3, 0.3, [0, 0.254804, 0.254804, 1]),
    ],
)
def test_toy_sentences_have_their_worked_probabilities(
    index: int, magnitude: float, expected: list[float]
) -> None:
    """Sentence 2: dog and sat tie at 0.75, the first is forced. Sentence 4 at 0.3: fast, 0.69, is forced."""
    _, sentences = counted(TOY)
    actual = probabilities(take(sentences, np.array([index])), magnitude)
    np.testing.assert_allclose(actual, expected, atol=1e-6)


@pytest.mark.parametrize("magnitude", [0.3, 0.5, 0.8])
def test_probabilities_average_to_beta_before_the_cap_and_keep_their_bounds_after(magnitude: float) -> None:
    _, sentences = counted([" ".join(document) for document in random_documents(200)])
    positions, seen = every(sentences), 0
    actual = probabilities(positions, magnitude)
    for start, end in zip(positions.ends, positions.ends[1:], strict=False):
        ratios, capped = positions.ratios[start:end], np.minimum(magnitude * positions.ratios[start:end], 1)
        if ratios.any():
            seen += 1
            assert (magnitude * ratios).mean() == pytest.approx(magnitude, abs=1e-6)
            assert capped.mean() <= magnitude + 1e-6
            assert actual[start:end].mean() <= magnitude + 1 / len(ratios) + 1e-6
            assert actual[start:end].max() == 1
        assert actual[start:end][ratios == 0].max() == 0, "the least informative word is never replaced"
    assert seen > 100


@pytest.mark.parametrize("radius", [2, 5, 4000])
def test_a_batch_equals_the_word_by_word_form_under_the_same_random_numbers(radius: int) -> None:
    documents = random_documents()
    ranking, sentences = counted([" ".join(document) for document in documents])
    slow = SlowTerms(documents)
    indices = np.random.default_rng(1).permutation(len(documents))[:40]
    actual = corrupt(
        take(sentences, indices), ranking, np.random.default_rng(8), **{**SETTINGS, "radius": radius}
    )
    expected = slow.corrupt(
        [documents[index] for index in indices], np.random.default_rng(8), magnitude=0.5, radius=radius
    )
    ranks, _, repaired = actual
    assert [ranking.terms[rank] for rank in ranks] == [word for copy in expected for word in copy]
    assert repaired.sum() > 0


def test_every_sentence_is_changed_even_one_word_or_equal_scores() -> None:
    """A sentence of equal scores has no probability above 0; its first word is changed and no other."""
    texts = [*[" ".join(document) for document in random_documents()], "w1", "w2 w2 w2"]
    ranking, sentences = counted(texts)
    positions = every(sentences)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        ranks, _, repaired = corrupt(positions, ranking, rng, **{**SETTINGS, "radius": 1})
        changed = np.add.reduceat(ranks != positions.ranks, positions.ends[:-1])
        assert changed.min() >= 1
        assert changed[-2:].tolist() == [1, 1]
        assert repaired[-2:].all()
    ranks, _, repaired = corrupt(positions, ranking, rng, **{**SETTINGS, "repair": False})
    np.testing.assert_array_equal(ranks[-4:], positions.ranks[-4:])
    assert not repaired.any()


def test_an_empty_sentence_passes_through_alone_and_among_others() -> None:
    ranking, sentences = counted(["w1 w2", "", "w3 w1 w1", ""])
    ranks, _, repaired = corrupt(every(sentences), ranking, np.random.default_rng(0), **SETTINGS)
    assert len(ranks) == 5
    assert not repaired[[1, 3]].any()
    nothing = corrupt(take(sentences, np.array([1, 3])), ranking, np.random.default_rng(0), **SETTINGS)
    assert nothing[0].shape == (0,)


def test_random_selection_takes_a_share_of_words_and_leaves_short_sentences() -> None:
    _, sentences = counted(["w1 w2"] * 400 + ["w1 w2 w3"] * 5_000)
    chosen = select(every(sentences), np.random.default_rng(0), by="random", magnitude=0.5)
    assert not chosen[:800].any()
    assert chosen[800:].mean() == pytest.approx(0.5, abs=0.02)
    assert (~chosen[800:].reshape(-1, 3).any(axis=1)).any(), "nothing is forced"


DRAWS = 100_000


def ranking_of(relevance: list[float]) -> Ranking:
    weights = np.array(relevance)
    names, mass = [f"t{rank}" for rank in range(len(weights))], np.concatenate([[0.0], np.cumsum(weights)])
    return Ranking(names, weights, np.ones(len(weights)), mass)


@pytest.mark.parametrize(
    ("rank", "low", "expected"),
    [(7, 5, [0.292823, 0.292823, 0.292823, 0.121532]), (0, 0, [0.432620, 0.335566, 0.231814])],
)
def test_draws_follow_the_worked_distribution_of_a_window(rank: int, low: int, expected: list[float]) -> None:
    """r = 2. ran (7) draws from sat, dog, ran, the; a (0), at the upper end, from a, fast, on."""
    ranking, _ = counted(TOY)
    drawn = draw_replacements(ranking, np.full(DRAWS, rank), np.random.default_rng(11), radius=2, other=False)
    counts = np.bincount(drawn - low, minlength=len(expected))
    assert len(counts) == len(expected)
    exact = ranking.relevance[low : low + len(expected)] / ranking.relevance[low : low + len(expected)].sum()
    np.testing.assert_allclose(exact, expected, atol=1e-6)
    assert chisquare(counts, DRAWS * exact).pvalue > 0.01


@pytest.mark.parametrize("other", [False, True])
def test_draws_from_a_wide_window_pass_a_chi_square_test(other: bool) -> None:
    ranking = ranking_of(sorted(np.random.default_rng(3).gamma(2, size=200), reverse=True))
    drawn = draw_replacements(ranking, np.full(DRAWS, 50), np.random.default_rng(5), radius=30, other=other)
    weights = ranking.relevance.copy()
    weights[: 50 - 30] = weights[50 + 31 :] = 0
    weights[50] *= not other
    counts = np.bincount(drawn, minlength=200)
    assert counts[weights == 0].sum() == 0
    assert chisquare(counts[weights > 0], DRAWS * weights[weights > 0] / weights.sum()).pvalue > 0.01


def test_windows_hold_2r_plus_1_terms_inside_and_r_plus_1_at_both_ends() -> None:
    ranking, rng = ranking_of([1.0] * 30), np.random.default_rng(0)
    for rank, low, high in [(15, 12, 18), (0, 0, 3), (29, 26, 29), (1, 0, 4), (28, 25, 29)]:
        drawn = draw_replacements(ranking, np.full(2_000, rank), rng, radius=3, other=False)
        assert sorted(set(drawn.tolist())) == list(range(low, high + 1))
        others = draw_replacements(ranking, np.full(2_000, rank), rng, radius=3, other=True)
        assert sorted(set(others.tolist())) == [j for j in range(low, high + 1) if j != rank]


def test_without_a_radius_every_term_is_as_likely() -> None:
    ranking = ranking_of([9.0, 1.0, 0.5, 0.1])
    drawn = draw_replacements(ranking, np.full(DRAWS, 1), np.random.default_rng(2), radius=None, other=False)
    assert chisquare(np.bincount(drawn, minlength=4)).pvalue > 0.01
    others = draw_replacements(ranking, np.full(DRAWS, 1), np.random.default_rng(2), radius=None, other=True)
    assert chisquare(np.bincount(others, minlength=4)[[0, 2, 3]]).pvalue > 0.01
    assert 1 not in others


def test_equal_relevance_gives_uniform_draws() -> None:
    ranking, ranks = ranking_of([2.0] * 9), np.full(DRAWS, 6)
    drawn = draw_replacements(ranking, ranks, np.random.default_rng(1), radius=2, other=False)
    assert chisquare(np.bincount(drawn, minlength=9)[4:9]).pvalue > 0.01


def test_a_window_without_relevance_is_drawn_from_uniformly() -> None:
    ranking, ranks = ranking_of([5.0] + [0.0] * 8), np.full(DRAWS, 6)
    drawn = draw_replacements(ranking, ranks, np.random.default_rng(1), radius=2, other=False)
    assert chisquare(np.bincount(drawn, minlength=9)[4:9]).pvalue > 0.01


def test_another_term_is_found_where_all_relevance_is_the_terms_own() -> None:
    ranking = ranking_of([5.0, 0.0, 0.0])
    drawn = draw_replacements(
        ranking, np.zeros(3_000, dtype=np.int64), np.random.default_rng(0), radius=1, other=True
    )
    assert set(drawn.tolist()) == {1}


def test_a_single_term_is_drawn_by_relevance_above_the_lowest() -> None:
    ranking = ranking_of([5.0, 3.0, 3.0, 1.0])
    counts = np.bincount(draw_any(ranking, DRAWS, np.random.default_rng(4)), minlength=4)
    assert counts[3] == 0
    assert chisquare(counts[:3], DRAWS * np.array([4, 2, 2]) / 8).pvalue > 0.01
    assert set(draw_any(ranking_of([2.0] * 3), 300, np.random.default_rng(4)).tolist()) == {0, 1, 2}
