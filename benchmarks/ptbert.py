"""Times the pseudo-token block as printed against its factorised form, forward and backward.

Run from the repository's root: `python -m benchmarks.ptbert [--rounds 7] [--short]`. Both forms get the same
dropout masks; their outputs and gradients are compared before anything is timed.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time

import torch
from torch import Tensor

from methods.ptbert.block import PseudoTokenBlock, factorised, plain


def gradients(
    block: PseudoTokenBlock, pooled: Tensor, masks: tuple[Tensor, Tensor], form: str
) -> list[Tensor]:
    """Runs one form forward and backward; returns its output and the gradients of vectors and weights."""
    if form == "plain":
        output = plain(block, block, pooled, pooled.unsqueeze(1), None, *masks)
    else:
        output = factorised(block, block, pooled, masks[0].squeeze(-1), masks[1].squeeze(-2))
    wanted = [pooled, block.value.weight, block.value.bias, block.query.weight, block.key.weight]
    return [output.detach(), *torch.autograd.grad(output.square().sum(), wanted)]


def largest_difference(one: list[Tensor], two: list[Tensor]) -> float:
    """Returns the largest difference relative to the largest entry, over output and gradients."""
    return max(((a - b).abs().max() / b.abs().max()).item() for a, b in zip(one, two, strict=True))


def measure(batch: int, width: int, heads: int, length: int, rounds: int) -> None:
    """Prints median times of both forms at one size, measured in turn."""
    torch.manual_seed(0)
    block = PseudoTokenBlock(width, length=length, heads=heads, dropout=0.1, form="plain")
    pooled = torch.randn(batch, width, requires_grad=True)
    masks = block.keep(pooled, (length, 1)), block.keep(pooled, (1, length))
    forms = ("plain", "factorised")
    difference = largest_difference(*(gradients(block, pooled, masks, form) for form in reversed(forms)))
    if difference > 1e-4:
        raise SystemExit(f"the forms differ by {difference:.1e}, expected below 1e-4")
    times: dict[str, list[float]] = {form: [] for form in forms}
    for _ in range(rounds):
        for form in forms:
            start = time.perf_counter()
            gradients(block, pooled, masks, form)
            times[form].append(time.perf_counter() - start)
    medians = {form: statistics.median(taken) * 1000 for form, taken in times.items()}
    print(
        f"B {batch} d {width} H {heads} m {length}: plain {medians['plain']:.1f} ms, factorised "
        f"{medians['factorised']:.1f} ms, ratio {medians['plain'] / medians['factorised']:.1f}, "
        f"difference {difference:.1e}"
    )


def main() -> None:
    """Prints machine, threads, versions and the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="timed repetitions of each form")
    parser.add_argument("--short", action="store_true", help="one small size, for a check that it runs")
    arguments = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads")
    print(f"python {platform.python_version()}, torch {torch.__version__}, fp32, {arguments.rounds} rounds")
    sizes = [(8, 96, 12, 16)] if arguments.short else [(64, 768, 12, m) for m in (64, 128, 360)]
    for batch, width, heads, length in sizes:
        measure(batch, width, heads, length, arguments.rounds)


if __name__ == "__main__":
    main()
