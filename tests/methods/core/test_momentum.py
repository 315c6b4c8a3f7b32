"""The moving average in closed form, frozen copies and reset weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from methods.core.momentum import ema_update, frozen_copy, reset_weights


def layer(value: float) -> nn.Linear:
    linear = nn.Linear(2, 2)
    nn.init.constant_(linear.weight, value)
    nn.init.constant_(linear.bias, value + 1)
    return linear


@pytest.mark.parametrize(("updates", "left"), [(1, 0.885), (10, 0.2947), (40, 0.007546)])
def test_n_updates_leave_momentum_to_the_n_of_the_start(updates: int, left: float) -> None:
    """key_n = left key_0 + (1 - left) query with left = 0.885^n: from 4 towards 2 it is 2 + 2 left."""
    key, query = layer(4.0), layer(2.0)
    for _ in range(updates):
        ema_update(key, query, momentum=0.885)
    torch.testing.assert_close(key.weight, torch.full((2, 2), 2 + 2 * left), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(key.bias, torch.full((2,), 3 + 2 * left), rtol=1e-4, atol=1e-5)
    assert query.weight.unique().tolist() == [2.0]


def test_momentum_one_freezes_and_zero_copies_exactly() -> None:
    torch.manual_seed(0)
    key, query = nn.Linear(9, 9), nn.Linear(9, 9)
    before = key.weight.detach().clone()
    ema_update(key, query, momentum=1.0)
    assert torch.equal(key.weight, before)
    ema_update(key, query, momentum=0.0)
    assert torch.equal(key.weight, query.weight)


def test_a_frozen_copy_is_equal_apart_and_without_gradient() -> None:
    original = layer(3.0)
    copied = frozen_copy(original)
    assert torch.equal(copied.weight, original.weight)
    assert not any(parameter.requires_grad for parameter in copied.parameters())
    assert all(parameter.requires_grad for parameter in original.parameters())
    ema_update(copied, layer(0.0), momentum=0.0)
    assert original.weight.unique().tolist() == [3.0]


def test_reset_weights_have_the_spread_of_a_new_bert() -> None:
    torch.manual_seed(0)
    network = nn.ModuleDict(
        {
            "words": nn.Embedding(300, 40, padding_idx=0),
            "dense": nn.Linear(200, 200),
            "bare": nn.Linear(4, 4, bias=False),
            "norm": nn.LayerNorm(8),
        }
    )
    nn.init.constant_(network["norm"].weight, 5.0)
    reset_weights(network, sd=0.02)
    assert network["dense"].weight.std().item() == pytest.approx(0.02, rel=0.02)
    assert network["words"].weight[1:].std().item() == pytest.approx(0.02, rel=0.03)
    assert not network["words"].weight[0].any()
    assert not network["dense"].bias.any()
    assert network["norm"].weight.unique().tolist() == [1.0]
