"""The projector of the online side: trained, never exported. Shapes: [B, d] to [B, d]."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from methods.core.fast.linear import linear


class Projector(nn.Sequential):
    """Blocks in series, each one dense layer up to `factor` times the width, ReLU, one dense layer back.

    Source: SCT section 2.1 (three "layers", w = 10): each is a block of two, and nothing is between
    blocks, as in the released code. Three blocks of factor 10 have 60 d^2 + 33 d weights.
    """

    def __init__(self, width: int, *, blocks: int, factor: int) -> None:
        super().__init__(
            *(
                nn.Sequential(nn.Linear(width, factor * width), nn.ReLU(), nn.Linear(factor * width, width))
                for _ in range(blocks)
            )
        )

    def forward(self, vectors: Tensor) -> Tensor:
        """Returns what the blocks make of the vectors, one after the other; [B, d] to [B, d]."""
        block: Any
        for block in self:
            widen, activation, narrow = block
            vectors = linear(narrow, activation(linear(widen, vectors)))
        return vectors
