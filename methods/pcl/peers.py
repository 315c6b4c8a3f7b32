"""The peer network: an encoder and the pooler that the released code leaves between it and the head."""

from __future__ import annotations

from typing import Any

from torch import nn

from methods.core.heads import TanhHead


def first_pooler(encoder: Any, *, kind: str) -> nn.Module:
    """Returns the encoder followed by the pooler that `kind` asks for: tokens to [B, d].

    `pooler-shared-mlp` takes the dense layer of the backbone's own pooler (the encoder must have been loaded
    with it), `new-pooler-shared-mlp` a new one, as on checkpoints without; other kinds add nothing.
    """
    if kind == "pooler-shared-mlp":
        pooler = TanhHead(encoder.width)
        pooler.dense = encoder.backbone.pooler.dense
        encoder.backbone.pooler = None  # else the backbone computes it and throws the result away
        return nn.Sequential(encoder, pooler)
    if kind == "new-pooler-shared-mlp":
        return nn.Sequential(encoder, TanhHead(encoder.width))
    return encoder
