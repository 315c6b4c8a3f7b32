"""The noise negatives: the worked step, the slow form with autograd, norms, angles, limits."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from methods.dclr.objective import ascend

HAND: dict[str, Any] = {"temperature": 1.0, "steps": 1, "step_size": 0.1, "denominator": "all"}


def drawn(*shape: int, seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def non_uniformity(
    noise: Tensor, anchors: Tensor, positives: Tensor, *, temperature: float, denominator: str
) -> Tensor:
    """The loss that the noise climbs, DCLR eq. 2 averaged over anchors, pair by pair."""

    def cosine(x: Tensor, y: Tensor) -> Tensor:
        return (x @ y) / (x.norm() * y.norm())

    losses = []
    for row, anchor in enumerate(anchors):
        columns = [cosine(anchor, other) for other in noise]
        if denominator == "all":
            columns += [cosine(anchor, other) for other in positives]
        below = sum((value / temperature).exp() for value in columns)
        losses.append(-cosine(anchor, positives[row]) / temperature + torch.as_tensor(below).log())
    return torch.stack(losses).mean()


def slow_ascent(
    noise: Tensor, anchors: Tensor, positives: Tensor, *, steps: int, step_size: float, **settings: Any
) -> Tensor:
    """The loop of the paper with autograd."""
    for _ in range(steps):
        noise = noise.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(non_uniformity(noise, anchors, positives, **settings), noise)
        noise = noise + step_size * gradient / gradient.norm(dim=1, keepdim=True)
    return noise.detach()


def test_one_step_worked_by_hand() -> None:
    """Anchors e1 and e2 are their own positives, one noise vector 2 e3, tau 1, step 0.1.

    Each row: -1 + log(e + 1 + 1) = 0.551444714. Both anchors pull alike, so the direction is
    (1, 1, 0) / sqrt 2 and the vector ends at (0.0707107, 0.0707107, 2).
    """
    anchors = torch.eye(3, dtype=torch.float64)[:2]
    noise = torch.tensor([[0.0, 0.0, 2.0]], dtype=torch.float64)
    value = non_uniformity(noise, anchors, anchors, temperature=1.0, denominator="all")
    assert value.item() == pytest.approx(0.551444714, abs=1e-9)
    expected = torch.tensor([[0.1 / math.sqrt(2), 0.1 / math.sqrt(2), 2.0]], dtype=torch.float64)
    torch.testing.assert_close(ascend(noise, anchors, anchors, **HAND), expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("denominator", ["all", "noise-only"])
@pytest.mark.parametrize("temperature", [0.05, 1.0])
def test_the_closed_form_equals_autograd(denominator: Any, temperature: float) -> None:
    noise, anchors, positives = drawn(5, 6, seed=1), drawn(4, 6, seed=2), drawn(4, 6, seed=3)
    settings: dict[str, Any] = {
        "temperature": temperature,
        "steps": 3,
        "step_size": 0.2,
        "denominator": denominator,
    }
    expected = slow_ascent(noise, anchors, positives, **settings)
    torch.testing.assert_close(ascend(noise, anchors, positives, **settings), expected, atol=1e-12, rtol=0)


def test_norms_grow_by_pythagoras_and_the_loss_never_falls() -> None:
    """The gradient of a cosine is orthogonal to its argument: |n|^2 grows by step_size^2 a step."""
    noise, anchors, positives = drawn(6, 8, seed=7), drawn(4, 8, seed=8), drawn(4, 8, seed=9)
    height, moved = -math.inf, noise
    for step in range(5):
        moved = ascend(noise, anchors, positives, **{**HAND, "steps": step, "step_size": 0.03})
        grown = moved.square().sum(dim=1) - noise.square().sum(dim=1)
        torch.testing.assert_close(grown, torch.full_like(grown, step * 0.03**2), atol=1e-12, rtol=0)
        reached = non_uniformity(moved, anchors, positives, temperature=1.0, denominator="all").item()
        assert reached > height
        height = reached


def test_the_papers_steps_barely_move_the_noise() -> None:
    """d 768, sigma 1, four steps of 1e-3: below 2e-4 rad, and no logit at tau 0.05 moves by 4e-3."""
    noise, anchors, positives = (drawn(128, 768, seed=seed) for seed in (10, 11, 12))
    moved = ascend(noise, anchors, positives, temperature=0.05, steps=4, step_size=1e-3, denominator="all")
    before, after = torch.nn.functional.normalize(noise), torch.nn.functional.normalize(moved)
    angles = 2 * torch.asin((after - before).norm(dim=1) / 2)
    assert 0 < angles.max() < 2e-4
    directions = torch.nn.functional.normalize(anchors)
    assert 0 < ((after - before) @ directions.T / 0.05).abs().max() < 4e-3


def test_noise_on_top_of_the_only_anchor_becomes_zero_and_may_move_again() -> None:
    anchor = torch.tensor([[2.0, 0.0, 0.0]])
    noise = torch.tensor([[3.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    once = ascend(noise, anchor, anchor, **HAND)
    torch.testing.assert_close(once, torch.tensor([[0.0, 0.0, 0.0], [0.1, 1.0, 0.0]]))
    twice = ascend(noise, anchor, anchor, **{**HAND, "steps": 2, "step_size": 1e-3})
    torch.testing.assert_close(twice[0], torch.tensor([1e-3, 0.0, 0.0]))


def test_a_gradient_too_small_for_fp32_still_has_a_direction() -> None:
    """Cosine -1 to the anchors' side at tau 0.005: the softmax share is about e^-400, zero in fp32."""
    anchors = torch.nn.functional.normalize(torch.tensor([[1.0, 0.1, 0.0], [1.0, -0.1, 0.0]]))
    noise = torch.tensor([[-1.0, 0.0, 0.01]])
    settings: dict[str, Any] = {**HAND, "temperature": 0.005}
    expected = ascend(noise.double(), anchors.double(), anchors.double(), **settings)
    moved = ascend(noise, anchors, anchors, **settings)
    torch.testing.assert_close(moved.double(), expected, atol=1e-4, rtol=0)
    assert moved.ne(0).any()
