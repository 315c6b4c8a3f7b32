"""Dropout: permanent and temporary rates, kept elements, and gradients through the same masks."""

from pathlib import Path

import pytest
import torch
from torch import nn

from methods.core.dropout import LEVELS, dropout, dropout_rate, dropped, kept, set_dropout
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


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.85])
def test_the_dropped_share_and_the_scale_follow_the_rate(rate: float) -> None:
    """Of a million draws the share lies within five standard deviations of the rate."""
    torch.manual_seed(0)
    made = dropped(torch.ones(1000, 1001), rate)
    share = (made == 0).double().mean().item()
    assert abs(share - rate) < 5 * (rate * (1 - rate) / made.numel()) ** 0.5
    assert made.unique().tolist() == [0, pytest.approx(1 / (1 - rate), rel=1 / LEVELS / (1 - rate))]
    exact = dropped(torch.ones(64, dtype=torch.float64), 0.1).max().item()
    assert exact == 65536 / 58982, "6,553.6 of 65,536 levels are 6,554, and the others are scaled by that"


def test_each_of_four_draws_in_a_number_is_uniform_and_independent() -> None:
    """Shares by place in the number, and of pairs at distances 1 to 4, within five standard deviations."""
    torch.manual_seed(1)
    mask = kept(torch.Size([4 * 2**18]), LEVELS // 4).double() - 0.75
    deviation = (0.75 * 0.25) ** 0.5
    assert mask.view(-1, 4).mean(dim=0).abs().max().item() < 5 * deviation / (2**18) ** 0.5
    for distance in (1, 2, 3, 4):
        product = (mask[distance:] * mask[:-distance]).mean().item()
        assert abs(product) < 5 * deviation**2 / 2**10


def test_the_first_and_the_last_level_are_dropped_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bits -32768, -32767, 0 and 32767 against levels 1 and 65,535 of 65,536."""
    bits = torch.tensor([-32768, -32767, 0, 32767], dtype=torch.int16).view(torch.int64)
    monkeypatch.setattr(torch.Tensor, "random_", lambda self, low, high: self.copy_(bits))
    assert kept(torch.Size([4]), 1).tolist() == [0, 1, 1, 1]
    assert kept(torch.Size([4]), LEVELS - 1).tolist() == [0, 0, 0, 1]
    assert kept(torch.Size([3]), LEVELS // 2).tolist() == [0, 0, 1]


def test_gradients_pass_where_values_do_and_rates_of_zero_and_one_are_exact() -> None:
    torch.manual_seed(2)
    inputs = torch.randn((2, 5, 11), requires_grad=True)
    made = dropped(inputs, 0.5)
    (gradient,) = torch.autograd.grad(made.sum(), inputs)
    assert torch.equal(gradient, (made != 0).float() * 2.0)
    inputs = torch.arange(1.0, 9.0)
    assert torch.equal(dropped(inputs, 0.0), inputs)
    assert torch.equal(dropped(inputs, 1.0), torch.zeros(8))
    assert dropout(nn.Dropout(0.5).eval(), inputs) is inputs
    assert (dropout(nn.Dropout(0.5), torch.ones(100)) == 0).any()
