"""Time of DCLR's noise ascent and loss: closed form and products against autograd over broadcast cosines.

    python benchmarks/dclr.py [--rounds 3] [--short]

Both forms get the same vectors; the script stops if their noise, loss or gradients differ. A step here is the
part after the encoders: four ascent steps, all cosines, the released loss, and the gradients of both views.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from methods.core.losses import cosine_similarities
from methods.dclr.noise import ascend
from methods.dclr.objective import binary_cross_entropy

TEMPERATURE, STEPS, STEP_SIZE = 0.05, 4, 1.0e-3


class Shape(NamedTuple):
    """Sentences B, noise vectors M, width d of one setting."""

    name: str
    batch: int
    noise: int
    width: int


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
        target = torch.arange(len(first))
        (gradient,) = torch.autograd.grad(functional.cross_entropy(logits, target), noise)
        noise = noise + STEP_SIZE * gradient / gradient.norm(dim=1, keepdim=True)
    moved = noise.detach()
    return moved, binary_cross_entropy(torch.cat([cosines(second), cosines(moved)], dim=1) / TEMPERATURE)


def measure(form: Callable[..., tuple[Tensor, Tensor]], shape: Shape) -> tuple[float, list[Tensor]]:
    """Returns the seconds of one step with its backward pass, and everything it computed."""
    generator = torch.Generator().manual_seed(0)
    first, second = (
        torch.randn(shape.batch, shape.width, generator=generator).requires_grad_() for _ in range(2)
    )
    noise = torch.randn(shape.noise, shape.width, generator=generator)
    started = time.perf_counter()
    moved, loss = form(first, second, noise)
    gradients = torch.autograd.grad(loss, [first, second])
    return time.perf_counter() - started, [moved, loss.detach(), *gradients]


def compare(shape: Shape, rounds: int) -> str:
    """Returns one line of the report; exits if the two forms disagree."""
    seconds: dict[str, list[float]] = {"fast": [], "broadcast": []}
    for turn in range(rounds):
        forms = [("fast", fast), ("broadcast", broadcast)]
        computed = {}
        for name, form in forms if turn % 2 else forms[::-1]:
            taken, computed[name] = measure(form, shape)
            seconds[name].append(taken)
        for one, other in zip(computed["fast"], computed["broadcast"], strict=True):
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-6)
    ratios = [slow / quick for slow, quick in zip(seconds["broadcast"], seconds["fast"], strict=True)]
    medians = [statistics.median(seconds[name]) * 1e3 for name in ("fast", "broadcast")]
    return f"{shape.name:<18}{medians[0]:>10.1f}{medians[1]:>14.1f}{statistics.median(ratios):>10.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each form (default 3)")
    parser.add_argument("--short", action="store_true", help="the first shape alone, two rounds")
    settings = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} threads")
    print(f"python {platform.python_version()}, torch {torch.__version__}, fp32")
    print(f"{'':<18}{'method ms':>10}{'broadcast ms':>14}{'ratio':>10}")
    for shape in SHAPES[:1] if settings.short else SHAPES:
        print(compare(shape, 2 if settings.short else settings.rounds), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
