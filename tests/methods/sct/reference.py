"""SCT's loss as its formulas read: loops over views, sentences and keys, queues joined with the batch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def distribution(vector: Tensor, keys: Tensor, temperature: float) -> Tensor:
    """Softmax of the dot products with all keys, without a shift."""
    powers = torch.stack([torch.exp(vector @ key / temperature) for key in keys])
    return powers / powers.sum()


def divergence(target: Tensor, other: Tensor) -> Tensor:
    terms = [p * (p.log() - q.log()) for p, q in zip(target, other, strict=True) if p > 0]
    return torch.stack(terms).sum()


def slow_loss(
    online: Sequence[Tensor],
    references: Sequence[Tensor],
    queues: Sequence[Tensor],
    *,
    online_temperature: float,
    reference_temperature: float,
    crossing: bool = True,
) -> Tensor:
    """Sum over both directions of the mean KL; one queue: its rows and the references of both views."""
    total = torch.zeros((), dtype=torch.float64)
    for learner in (0, 1):
        view = 1 - learner if crossing else learner
        if len(queues) == 1:
            keys = torch.cat([queues[0], references[0], references[1]])
        else:
            keys = torch.cat([queues[view], references[view]])
        rows = [
            divergence(
                distribution(r, keys, reference_temperature), distribution(z, keys, online_temperature)
            )
            for z, r in zip(online[learner], references[view], strict=True)
        ]
        total = total + torch.stack(rows).mean()
    return total
