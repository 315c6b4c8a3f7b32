"""The peer network: an encoder and the pooler that the released code leaves between it and the head."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.folders import load_encoder
from methods.core.heads import TanhHead
from methods.core.parents import Frozen

OWN_POOLER, NEW_POOLER = "pooler-shared-mlp", "new-pooler-shared-mlp"


def with_pooler(encoder: SentenceEncoder, *, kind: str) -> nn.Module:
    """Returns the encoder followed by the pooler that `kind` asks for: tokens to [B, d].

    `pooler-shared-mlp` takes the dense layer of the backbone's own pooler (the encoder must have been loaded
    with it), `new-pooler-shared-mlp` a new one, as on checkpoints without; other kinds add nothing.
    """
    if kind == OWN_POOLER:
        backbone: Any = encoder.backbone
        pooler = TanhHead(encoder.width)
        pooler.dense = backbone.pooler.dense
        backbone.pooler = None  # else the backbone computes it and throws the result away
        return nn.Sequential(encoder, pooler)
    if kind == NEW_POOLER:
        return nn.Sequential(encoder, TanhHead(encoder.width))
    return encoder


def frozen_peer(folder: Path, main: SentenceEncoder, *, kind: str) -> Frozen:
    """Returns the encoder of a parent folder as a peer that never learns; its dropout is active.

    Errors: InputError if it does not read the main network's word pieces or has another width.
    """
    parent = load_encoder(folder, pooling=main.pooling, hf_pooler=kind == OWN_POOLER)
    if not isinstance(parent, SentenceEncoder) or parent.tokenizer.get_vocab() != main.tokenizer.get_vocab():
        raise InputError(
            f"{folder}: other word pieces than the backbone's, and a fixed peer reads the backbone's; "
            "give a parent of the same vocabulary"
        )
    if parent.width != main.width:
        raise InputError(
            f"{folder}: width {parent.width}, expected the backbone's {main.width}, as a fixed peer shares "
            "its head; give a parent of the same width"
        )
    return Frozen(with_pooler(parent, kind=kind), dropout=True)
