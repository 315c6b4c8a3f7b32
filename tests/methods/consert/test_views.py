"""ConSERT's edits: exact counts, fresh draws for each sentence, nothing outside the real tokens."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from methods.consert.views import (
    element_cutoff,
    feature_cutoff,
    plain_positions,
    shuffled_positions,
    token_cutoff,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("length", "rate", "zeros"), [(8, 0.15, 1), (4, 0.15, 0), (3, 0.5, 1), (10, 0.5, 5)])
def test_a_token_cutoff_zeroes_the_whole_part_of_the_share_anywhere(
    length: int, rate: float, zeros: int
) -> None:
    places = set()
    for seed in range(80):
        factors = token_cutoff([length, 12], rate=rate, rng=rng(seed))
        assert factors.shape == (2, 12, 1)
        assert (factors[0] == 0).sum() == zeros
        assert bool((factors[0, length:] == 1).all())
        places |= set((factors[0, :, 0] == 0).nonzero().flatten().tolist())
    assert places == (set(range(length)) if zeros else set())


def test_a_feature_cutoff_zeroes_the_same_features_in_every_row_and_others_elsewhere() -> None:
    """16 features at rate 0.2 lose 3; 768 lose 153."""
    factors = feature_cutoff(6, 16, rate=0.2, rng=rng())
    assert factors.shape == (6, 1, 16)
    assert (factors == 0).sum(dim=-1).flatten().tolist() == [3] * 6
    assert len({tuple(row.flatten().tolist()) for row in factors}) > 1
    assert (feature_cutoff(1, 768, rate=0.2, rng=rng()) == 0).sum() == 153


def test_the_exact_element_view_zeroes_a_count_and_keeps_the_size_of_the_rest() -> None:
    """8 tokens of 16 numbers at rate 0.2: 25 zeros, all others 1; padding is left alone."""
    factors = element_cutoff([8, 11], 16, rate=0.2, form="exact-count", rng=rng())
    assert factors.shape == (2, 11, 16)
    assert (factors[0] == 0).sum() == 25
    assert set(factors.unique().tolist()) == {0.0, 1.0}
    assert bool((factors[0, 8:] == 1).all())


def test_the_drawn_element_view_is_dropout_with_its_rescaling() -> None:
    """20,000 numbers: share 0.2 within 0.015 (five deviations), the others 1.25, their mean near 1."""
    factors = element_cutoff([200], 100, rate=0.2, form="bernoulli", rng=rng())
    assert (factors == 0).float().mean().item() == pytest.approx(0.2, abs=0.015)
    assert set(factors.unique().tolist()) == {0.0, 1.25}


@pytest.mark.parametrize("first", [0, 2])
def test_shuffled_positions_are_a_permutation_of_the_real_tokens_places(first: int) -> None:
    lengths, orders = [5, 9, 1], set()
    for seed in range(20):
        positions = shuffled_positions(lengths, first=first, rng=rng(seed))
        plain = plain_positions(3, 9, first=first)
        for row, length in enumerate(lengths):
            assert sorted(positions[row, :length].tolist()) == list(range(first, first + length))
            assert torch.equal(positions[row, length:], plain[row, length:])
        orders.add(tuple(positions[0].tolist()))
    assert len(orders) > 10
    assert any(order[0] != first for order in orders)
