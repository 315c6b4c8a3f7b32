"""DCLR's noise ascent and loss: closed form and products against autograd over broadcast cosines.

A step here is the part after the encoders: four ascent steps, all cosines, the released loss, and the
gradients of both views. Both forms get the same vectors; their noise, loss and gradients are compared first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.measurement import Form, Result, agree, compare
from methods.core.losses import cosine_similarities
from methods.dclr.noise import ascend
from methods.dclr.objective import binary_cross_entropy

TEMPERATURE, STEPS, STEP_SIZE = 0.05, 4, 1.0e-3
TOLERANCE = 1e-3
"""Largest difference of the two fp32 forms, relative to the largest entry."""


class Shape(NamedTuple):
    """Sentences B, noise vectors M, width d of one setting."""

    name: str
    batch: int
    noise: int
    width: int


SMALL = Shape("small", 16, 40, 64)
SHAPES = [
    Shape("base, k 1", 128, 128, 768),
    Shape("base, k 2.5", 128, 320, 768),
    Shape("base, batch 256", 256, 256, 768),
]


def fast(first: Tensor, second: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the moved noise and the loss as the method computes them."""
    moved = ascend(
        noise, first, second, temperature=TEMPERATURE, steps=STEPS, step_size=STEP_SIZE, denominator="all"
    )
    against = cosine_similarities(first, moved)
    pairs = cosine_similarities(first, second)
    return moved, binary_cross_entropy(torch.cat([pairs, against], dim=1) / TEMPERATURE)


def broadcast(first: Tensor, second: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the same by autograd over cosines of broadcast vectors [B, M, d]."""

    def cosines(keys: Tensor) -> Tensor:
        return functional.cosine_similarity(first.unsqueeze(1), keys.unsqueeze(0), dim=-1)

    for _ in range(STEPS):
        noise = noise.detach().requires_grad_()
        logits = torch.cat([cosines(second), cosines(noise)], dim=1) / TEMPERATURE
        target = torch.arange(len(first), device=first.device)
        (gradient,) = torch.autograd.grad(functional.cross_entropy(logits, target), noise)
        noise = noise + STEP_SIZE * gradient / gradient.norm(dim=1, keepdim=True)
    moved = noise.detach()
    return moved, binary_cross_entropy(torch.cat([cosines(second), cosines(moved)], dim=1) / TEMPERATURE)


def step(form: Callable[..., tuple[Tensor, Tensor]], shape: Shape, device: str) -> Callable[[], list[Tensor]]:
    """Returns one step with its backward pass, as a function that returns everything it computed."""
    generator = torch.Generator().manual_seed(0)
    first, second = (
        torch.randn(shape.batch, shape.width, generator=generator).to(device).requires_grad_()
        for _ in range(2)
    )
    noise = torch.randn(shape.noise, shape.width, generator=generator).to(device)

    def run() -> list[Tensor]:
        moved, loss = form(first, second, noise)
        return [moved, loss.detach(), *torch.autograd.grad(loss, [first, second])]

    return run


def measure(rounds: int, short: bool, device: str = "cpu") -> list[Result]:
    """Returns the step at three sizes."""
    results = []
    for shape in [SMALL] if short else SHAPES:
        ours, theirs = step(fast, shape, device), step(broadcast, shape, device)
        words = agree(ours(), theirs(), tolerance=TOLERANCE, what="noise, loss and gradients")
        forms: dict[str, Form] = {"products": ours, "broadcast cosines": theirs}
        name = f"DCLR's noise and loss, {shape.name}"
        results.append(compare(name, forms, rounds=rounds, device=device, agreement=words))
    return results
