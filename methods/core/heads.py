"""Layers that stand on the pooled vector during training and are dropped at export."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from torch import Tensor, nn

from methods.core.encoder import SentenceEncoder

INITIAL_SPREAD = 0.02
"""Standard deviation of new weights, as BERT initialises its own."""

TrainingHead = Annotated[
    Literal["mlp", "none"], Field(description="dense layer with tanh during training; never exported")
]
"""The setting of methods that train with the head of SimCSE, or without any."""


class TanhHead(nn.Module):
    """One dense layer with tanh, new weights: the head of SimCSE's training. Shapes: [B, d] to [B, d]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)
        nn.init.normal_(self.dense.weight, std=INITIAL_SPREAD)
        nn.init.zeros_(self.dense.bias)

    def forward(self, pooled: Tensor) -> Tensor:
        return self.dense(pooled).tanh()


def training_head(kind: TrainingHead, width: int) -> nn.Module:
    """Returns the head that a config asks for; [B, d] to [B, d]."""
    return TanhHead(width) if kind == "mlp" else nn.Identity()


def take_pooler(encoder: SentenceEncoder) -> nn.Linear:
    """Returns the dense layer of the backbone's own pooler and removes the pooler from the backbone.

    The encoder must have been loaded with it (`hf_pooler`). Left there, it would be computed for nothing.
    """
    backbone: Any = encoder.backbone
    dense: nn.Linear = backbone.pooler.dense
    backbone.pooler = None
    return dense


def pooler_head(encoder: SentenceEncoder) -> TanhHead:
    """Returns the backbone's own pooler as a head; it is not exported with the backbone any more."""
    head = TanhHead(encoder.width)
    head.dense = take_pooler(encoder)
    return head
