"""Layers that stand on the pooled vector during training and are dropped at export."""

from __future__ import annotations

from torch import Tensor, nn

INITIAL_SPREAD = 0.02
"""Standard deviation of new weights, as BERT initialises its own."""


class TanhHead(nn.Module):
    """One dense layer with tanh, new weights: the head of SimCSE's training. Shapes: [B, d] to [B, d]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)
        nn.init.normal_(self.dense.weight, std=INITIAL_SPREAD)
        nn.init.zeros_(self.dense.bias)

    def forward(self, pooled: Tensor) -> Tensor:
        return self.dense(pooled).tanh()
