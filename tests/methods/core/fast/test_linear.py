"""Products through oneDNN equal torch's own in value and gradient, and stay away from all other inputs."""

from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from methods.core.fast.linear import (
    REORDERED,
    SMALLEST_WEIGHT,
    fits_onednn,
    linear,
    reordered,
)
from methods.core.fast.packed import pooled_vectors

SIZES = [(128, 128, 1), (128, 256, 3), (384, 100, 64), (200, 131, 77)]
"""Inputs, outputs and rows, so many that no two are equal and odd counts are among them."""

pytestmark = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available(), reason="this torch was built without oneDNN"
)


def layer_and_rows(inputs: int, outputs: int, rows: int, *, bias: bool = True) -> tuple[nn.Linear, Tensor]:
    torch.manual_seed(inputs + outputs + rows)
    return nn.Linear(inputs, outputs, bias=bias), torch.randn(rows, inputs, requires_grad=True)


def relative(actual: Tensor, expected: Tensor) -> float:
    return ((actual.double() - expected.double()).abs().max() / expected.abs().max()).item()


def gradients(made: Tensor, leaves: list[Tensor]) -> list[Tensor]:
    weights = torch.linspace(-1, 3, made.numel(), dtype=made.dtype).view_as(made)
    return list(torch.autograd.grad((made * weights).sum(), leaves))


@pytest.mark.parametrize(("inputs", "outputs", "rows"), SIZES)
@pytest.mark.parametrize("bias", [True, False])
def test_values_and_gradients_equal_those_in_float64(
    inputs: int, outputs: int, rows: int, bias: bool
) -> None:
    layer, given = layer_and_rows(inputs, outputs, rows, bias=bias)
    assert fits_onednn(given, layer.weight)
    exact = deepcopy(layer).double()
    wide = given.detach().double().requires_grad_()
    ours, theirs = linear(layer, given), exact(wide)
    assert relative(ours, theirs) < 3e-6
    actual = gradients(ours, [given, *layer.parameters()])
    expected = gradients(theirs, [wide, *exact.parameters()])
    assert len(actual) == 2 + bias
    assert all(relative(value, reference) < 3e-6 for value, reference in zip(actual, expected, strict=True))


def test_a_frozen_layer_passes_a_gradient_on() -> None:
    layer, given = layer_and_rows(128, 128, 4)
    (gradient,) = torch.autograd.grad(linear(layer.requires_grad_(False), given).sum(), given)
    assert relative(gradient, layer.weight.sum(dim=0).expand(4, -1)) < 3e-6


def test_other_inputs_take_torchs_own_path() -> None:
    rows, weight = torch.ones(2, 128), torch.ones(128, 128)
    assert fits_onednn(rows, weight)
    assert not fits_onednn(rows.double(), weight.double())
    assert not fits_onednn(rows.bfloat16(), weight.bfloat16())
    assert not fits_onednn(rows, weight.double())
    assert SMALLEST_WEIGHT == 64 * 64
    assert fits_onednn(torch.ones(2, 64), torch.ones(64, 64))
    assert not fits_onednn(torch.ones(2, 63), torch.ones(65, 63))
    assert not fits_onednn(rows.to("meta"), weight.to("meta"))
    with torch.autocast("cpu", torch.bfloat16):
        assert linear(nn.Linear(128, 128), rows).dtype == torch.bfloat16
    with torch.backends.mkldnn.flags(enabled=False):
        assert not fits_onednn(rows, weight)


def wide_backbone(activation: str) -> tuple[Any, dict[str, Tensor]]:
    """Returns a BERT of width 128, so that all its layers are large enough, and tokens for it."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 256}
    model = BertModel(BertConfig(vocab_size=40, hidden_act=activation, **sizes)).eval()
    with torch.no_grad():  # larger weights, so that the activations differ by more than rounding
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model, {"input_ids": torch.randint(1, 40, (5, 11))}


@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
def test_a_wide_backbone_equals_its_own_pass(activation: str) -> None:
    """In eval mode, with and without gradients."""
    model, tokens = wide_backbone(activation)
    leaves = [parameter for name, parameter in model.named_parameters() if "pooler" not in name]
    ours = pooled_vectors(model, tokens, "cls")
    with torch.backends.mkldnn.flags(enabled=False):
        theirs = model(**tokens).last_hidden_state[:, 0]
        expected = gradients(theirs, leaves)
    with torch.no_grad():
        fused = pooled_vectors(model, tokens, "cls")
    assert relative(ours, theirs) < 1e-5
    assert relative(fused, theirs) < 1e-5
    actual = gradients(ours, leaves)
    assert len(actual) > 30
    largest = max(gradient.abs().max() for gradient in expected)
    for value, exact in zip(
        actual, expected, strict=True
    ):  # of keys' biases it is zero, so nothing is relative
        torch.testing.assert_close(value, exact, rtol=1e-4, atol=1e-6 * float(largest))


@torch.no_grad()
def test_reordered_weights_give_the_same_vectors_and_are_gone_after() -> None:
    model, tokens = wide_backbone("gelu")
    plain, before = pooled_vectors(model, tokens, "mean"), deepcopy(model.state_dict())
    with reordered(model, 64):
        seen = sum(hasattr(part, REORDERED) for part in model.modules())
        torch.testing.assert_close(pooled_vectors(model, tokens, "mean"), plain, rtol=0, atol=1e-5)
    assert seen == 2 * 6 + 1  # six layers a block, and the pooler
    assert not any(hasattr(part, REORDERED) for part in model.modules())
    torch.testing.assert_close(dict(model.state_dict()), dict(before), rtol=0, atol=0)
