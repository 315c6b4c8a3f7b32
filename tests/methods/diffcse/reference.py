"""DiffCSE's terms once more, one row and one position at a time, in the order of the paper."""

from __future__ import annotations

import torch
from torch import Tensor


def projector(c: Tensor, wide: Tensor, scale: Tensor, shift: Tensor, narrow: Tensor) -> Tensor:
    """Returns h of all rows: dense, batch norm, ReLU, dense, batch norm; one column at a time."""
    rows = [torch.stack([(weights * row).sum() for weights in wide]) for row in c]
    hidden = [torch.stack([value.clamp(min=0) for value in row * scale + shift]) for row in normalised(rows)]
    return torch.stack(
        normalised([torch.stack([(weights * row).sum() for weights in narrow]) for row in hidden])
    )


def normalised(rows: list[Tensor]) -> list[Tensor]:
    mean = sum(rows) / len(rows)
    variance = sum((row - mean) ** 2 for row in rows) / len(rows)
    return [(row - mean) / (variance + 1e-5).sqrt() for row in rows]


def contrast(first: Tensor, second: Tensor, tau: float) -> Tensor:
    total = first.new_zeros(())
    for i, own in enumerate(first):
        scores = [(own * other).sum() / (own.norm() * other.norm()) / tau for other in second]
        total = total - scores[i] + torch.stack([score.exp() for score in scores]).sum().log()
    return total / len(first)


def detection(logits: Tensor, labels: Tensor, mask: Tensor, *, padding_counts: bool) -> Tensor:
    losses = []
    for row in range(logits.shape[0]):
        for place in range(logits.shape[1]):
            if mask[row, place] or padding_counts:
                original, new = logits[row, place]
                right = new if labels[row, place] else original
                losses.append(-(right.exp() / (original.exp() + new.exp())).log())
    return torch.stack(losses).sum() / len(losses)
