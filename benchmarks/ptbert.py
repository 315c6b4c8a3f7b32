"""The pseudo-token block as printed and in factorised form, forward and backward, under equal masks."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from benchmarks.measurement import Result, agree, compare
from methods.pt_bert.block import PseudoTokenBlock, factorised, plain

TOLERANCE = 1e-4


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


def block_result(batch: int, width: int, heads: int, length: int, rounds: int, device: str) -> Result:
    """Returns the block with its gradients at one size."""
    torch.manual_seed(0)
    block = PseudoTokenBlock(width, length=length, heads=heads, dropout=0.1, form="plain").to(device)
    pooled = torch.randn(batch, width, device=device, requires_grad=True)
    masks = block.keep(pooled, (length, 1)), block.keep(pooled, (1, length))
    ours, theirs = (partial(gradients, block, pooled, masks, form) for form in ("factorised", "plain"))
    return compare(
        f"PT-BERT's block, B={batch} d={width} m={length}",
        {"factorised": ours, "as printed": theirs},
        rounds=rounds,
        device=device,
        agreement=agree(ours(), theirs(), tolerance=TOLERANCE, what="output and gradients"),
    )


def measure(rounds: int, short: bool, device: str = "cpu") -> list[Result]:
    """Returns the block at the lengths of the paper's ablation."""
    sizes = [(8, 96, 12, 16)] if short else [(64, 768, 12, length) for length in (64, 128, 360)]
    return [block_result(*size, rounds, device) for size in sizes]
