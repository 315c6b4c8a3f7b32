"""The second views: what is cut, how much, and that special tokens stay."""

from __future__ import annotations

import numpy as np
import pytest

from methods.dclr import cutoff


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("cut", [cutoff.cut_tokens, cutoff.cut_span])
def test_token_cuts_take_their_share_and_spare_ends_and_padding(cut: object) -> None:
    """Sentences of 10, 1 and 0 words at rate 0.25: 2 (2.5 to even), 1 and 0 words are cut."""
    for seed in range(20):
        keep = cut([12, 3, 2], rate=0.25, rng=rng(seed))  # type: ignore[operator]
        assert keep.shape == (3, 12, 1)
        assert (keep == 0).sum(dim=(1, 2)).tolist() == [2, 1, 0]
        assert keep[:, 0].eq(1).all()
        assert keep[0, 11] == 1
        assert keep[1, 2:].eq(1).all()


def test_a_span_is_one_run_and_tokens_are_not() -> None:
    found = [
        cutoff.cut_span([12], rate=0.4, rng=rng(seed))[0, :, 0].eq(0).nonzero()[:, 0] for seed in range(40)
    ]
    assert all(where.tolist() == list(range(where[0], where[0] + 4)) for where in found)
    assert {int(where[0]) for where in found} == set(range(1, 8))
    scattered = [
        cutoff.cut_tokens([12], rate=0.4, rng=rng(seed))[0, :, 0].eq(0).nonzero() for seed in range(20)
    ]
    assert any(int(where[-1] - where[0]) > 3 for where in scattered)
    assert {int(p) for where in scattered for p in where} == set(range(1, 11))


def test_feature_cuts_differ_by_sentence_and_hold_for_all_its_tokens() -> None:
    keep = cutoff.cut_features(6, 20, rate=0.2, rng=rng())
    assert keep.shape == (6, 1, 20)
    assert (keep == 0).sum(dim=(1, 2)).tolist() == [4] * 6
    assert len({tuple(row.tolist()) for row in keep[:, 0]}) > 1


@pytest.mark.parametrize(
    ("total", "rate", "expected"), [(10, 0.2, 2), (10, 0.01, 1), (1, 0.9, 1), (0, 0.5, 0)]
)
def test_at_least_one_of_something_is_cut(total: int, rate: float, expected: int) -> None:
    assert cutoff.cut_count(total, rate) == expected
