"""Dropout rates of a network, set for good or for one pass."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from methods.core.dropout import dropout_rate, set_dropout
from tests.support import tiny


def rates(module: nn.Module) -> list[float]:
    return [part.p for part in module.modules() if isinstance(part, nn.Dropout)]


def test_every_place_of_every_layer_gets_the_rate(tmp_path: Path) -> None:
    """Embeddings once; attention, its output and the feed-forward output in each of two layers: 7."""
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path))
    set_dropout(encoder, 0.3)
    assert rates(encoder) == [0.3] * 7


def test_a_rate_of_one_pass_ends_with_it_also_on_an_error() -> None:
    network = nn.Sequential(nn.Dropout(0.1), nn.Linear(2, 2), nn.Dropout(0.2))
    with dropout_rate(network, 0.5):
        assert rates(network) == [0.5, 0.5]
    assert rates(network) == [0.1, 0.2]
    with pytest.raises(KeyError), dropout_rate(network, 0.5):
        raise KeyError
    assert rates(network) == [0.1, 0.2]


def test_kept_values_are_scaled_by_the_rate_of_their_own_pass() -> None:
    layer, ones = nn.Dropout(0.9), torch.ones(1000)
    for rate in (0.25, 0.5):
        with dropout_rate(layer, rate):
            seen = layer(ones)
        torch.testing.assert_close(seen.unique(), torch.tensor([0.0, 1 / (1 - rate)]))
