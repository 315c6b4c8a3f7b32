"""Updates by hand and against the textbook: both libraries' Adam, with and without bias correction."""

import math

import pytest
import torch
from torch import Tensor, nn

from methods.core.optimizer import build_optimizer, set_rate
from methods.core.train_config import TrainConfig
from tests.support.tiny import TRAIN


def settings(**changes: object) -> TrainConfig:
    return TrainConfig.model_validate({**TRAIN, **changes})


def test_two_updates_of_transformers_form_are_worked_by_hand() -> None:
    """Weight 1, gradients 2, betas 1/2 and 3/4, epsilon 1, rate 0.2, decay 0.5: weights shrink by 0.9.

    Step 1: m = 1, v = 1, c1 = c2 = 1/2: 0.2 * 1 * 1 / (1 + 1) = 0.1, so 0.9, shrunk 0.81.
    Step 2: m = 1.5, v = 1.75, c1 = 3/4, c2 = sqrt(7)/4, sqrt(v) = sqrt(7)/2:
    0.2 * (c2 / c1) * 1.5 / (sqrt(v) + 1) = 0.2 sqrt(7) / (sqrt(7) + 2) = 0.1138998, shrunk 0.6264902.
    """
    layer = nn.Linear(1, 1, bias=False).double()
    nn.init.constant_(layer.weight, 1.0)
    config = settings(
        learning_rate=0.2, betas=[0.5, 0.75], epsilon=1.0, weight_decay=0.5, adam="transformers"
    )
    optimizer = build_optimizer(layer, config)
    seen = []
    for step in range(2):
        layer.weight.grad = torch.full((1, 1), 2.0, dtype=torch.float64)
        set_rate(optimizer, config, step=step, factor=1.0)
        optimizer.step()
        seen.append(layer.weight.item())
    assert seen == pytest.approx([0.81, 0.6264902], abs=1e-7)


def textbook(config: TrainConfig, weight: Tensor, gradients: list[Tensor], rates: list[float]) -> Tensor:
    """Returns the weights after all updates, each line as the two libraries document it."""
    first, second = torch.zeros_like(weight), torch.zeros_like(weight)
    for step, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), start=1):
        first = config.betas[0] * first + (1 - config.betas[0]) * gradient
        second = config.betas[1] * second + (1 - config.betas[1]) * gradient**2
        c1, c2 = (1 - beta**step if config.bias_correction else 1.0 for beta in config.betas)
        if config.adam == "torch":
            weight = weight - rate * config.weight_decay * weight
            weight = weight - rate * (first / c1) / ((second / c2).sqrt() + config.epsilon)
        else:
            weight = weight - rate * math.sqrt(c2) / c1 * first / (second.sqrt() + config.epsilon)
            weight = weight - rate * config.weight_decay * weight
    return weight


def updated(config: TrainConfig, weight: Tensor, gradients: list[Tensor], factors: list[float]) -> Tensor:
    """Returns the weights after our optimiser's updates."""
    layer = nn.Linear(*reversed(weight.shape), bias=False, dtype=weight.dtype)
    layer.weight.data.copy_(weight)
    optimizer = build_optimizer(layer, config)
    for step, (gradient, factor) in enumerate(zip(gradients, factors, strict=True)):
        layer.weight.grad = gradient.clone()
        assert set_rate(optimizer, config, step=step, factor=factor) == config.learning_rate * factor
        optimizer.step()
    return layer.weight.detach()


@pytest.mark.parametrize("size", [1.0, 1.0e-7, 1.0e-9])
@pytest.mark.parametrize("adam", ["torch", "transformers"])
@pytest.mark.parametrize("corrected", [True, False])
def test_forty_updates_equal_the_textbook_loop(corrected: bool, adam: str, size: float) -> None:
    """Gradients of ordinary size, and so small that epsilon, 1e-8, is as large as their root mean square."""
    config = settings(learning_rate=0.01, weight_decay=0.1, bias_correction=corrected, adam=adam)
    weight = torch.tensor([[0.3, -0.2, 0.1]], dtype=torch.float64)
    gradients = [size * torch.sin(torch.arange(3.0, dtype=torch.float64) + step)[None] for step in range(40)]
    factors = [1.0 - step / 40 for step in range(40)]
    expected = textbook(config, weight, gradients, [0.01 * factor for factor in factors])
    torch.testing.assert_close(updated(config, weight, gradients, factors), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("adam", ["torch", "transformers"])
def test_a_parameter_without_gradient_is_not_decayed(adam: str) -> None:
    module = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    before = [parameter.item() for parameter in module.parameters()]
    config = settings(weight_decay=0.5, adam=adam)
    optimizer = build_optimizer(module, config)
    module[0].weight.grad = torch.zeros(1, 1)
    set_rate(optimizer, config, step=0, factor=1.0)
    optimizer.step()
    after = [parameter.item() for parameter in module.parameters()]
    assert after == [pytest.approx(before[0] * (1 - 1e-3 * 0.5)), before[1]]


def test_biases_and_norms_are_exempt_from_decay_only_where_stated() -> None:
    module = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2))
    groups = build_optimizer(module, settings(weight_decay=0.01, decay_everything=False)).param_groups
    assert [len(group["params"]) for group in groups] == [1, 3]
    assert [group["decay"] for group in groups] == [0.01, 0.0]
    assert len(build_optimizer(module, settings(decay_everything=True)).param_groups) == 1


def test_without_a_first_moment_and_correction_it_is_rmsprop() -> None:
    """Thirty updates of five weights under gradients from 1e-8 to 1, against torch's own RMSprop."""
    start = torch.randn(5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ours, theirs = nn.ParameterList([start.clone()]), nn.Parameter(start.clone())
    config = settings(learning_rate=0.1, betas=[0.0, 0.9], epsilon=1.0e-7, bias_correction=False)
    optimizer = build_optimizer(ours, config)
    reference = torch.optim.RMSprop([theirs], lr=0.1, alpha=0.9, eps=1.0e-7)
    generator, sizes = torch.Generator().manual_seed(1), 10.0 ** torch.arange(-8, 2, 2)
    for step in range(30):
        gradient = torch.randn(5, generator=generator, dtype=torch.float64) * sizes
        ours[0].grad, theirs.grad = gradient.clone(), gradient.clone()
        set_rate(optimizer, config, step=step, factor=1.0)
        optimizer.step()
        reference.step()
        torch.testing.assert_close(ours[0].data, theirs.data, rtol=0, atol=1e-12)
