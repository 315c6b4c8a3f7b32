"""The peer network: an encoder and the pooler that the released code leaves between it and the head."""

from __future__ import annotations

from torch import nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.heads import TanhHead, pooler_head
from methods.core.networks import Frozen, Networks

OWN_POOLER, NEW_POOLER = "pooler-shared-mlp", "new-pooler-shared-mlp"


def with_pooler(encoder: SentenceEncoder, *, kind: str) -> nn.Module:
    """Returns the encoder followed by the pooler that `kind` names: tokens to [B, d].

    `pooler-shared-mlp` takes the backbone's own pooler (the encoder must have been loaded with it),
    `new-pooler-shared-mlp` a new one, as on checkpoints without; other kinds add nothing.
    """
    if kind == OWN_POOLER:
        return nn.Sequential(encoder, pooler_head(encoder))
    if kind == NEW_POOLER:
        return nn.Sequential(encoder, TanhHead(encoder.width))
    return encoder


def frozen_peer(networks: Networks, main: SentenceEncoder, *, kind: str) -> Frozen:
    """Returns the run's parent as a peer that never learns; its dropout is active.

    Errors: InputError if it does not read the main network's word pieces or has another width.
    """
    parent = networks.parent_encoder(
        "pcl with a fixed peer", pooling=main.pooling, hf_pooler=kind == OWN_POOLER, like=main
    )
    if parent.width != main.width:
        raise InputError(
            f"{networks.parent}: width {parent.width}, expected the backbone's {main.width}, as a fixed peer "
            "shares its head; give a parent of the same width"
        )
    return Frozen(with_pooler(parent, kind=kind), dropout=True)
