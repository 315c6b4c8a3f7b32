"""Momentum encoders: copies whose parameters follow another network as an exponential moving average."""

from __future__ import annotations

import copy
from typing import TypeVar

import torch
from torch import nn

Network = TypeVar("Network", bound=nn.Module)


def frozen_copy(network: Network) -> Network:
    """Returns a copy with equal weights that takes no gradient: the key side of a query network."""
    return copy.deepcopy(network).requires_grad_(False)


@torch.no_grad()
def reset_weights(network: nn.Module, *, sd: float) -> None:
    """Redraws all weights in place as BERT initialises them: a network without pre-training.

    Linear and embedding weights are normal with standard deviation `sd`, a padding row and biases are
    zero, layer norms the identity.
    """
    for part in network.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            part.weight.normal_(std=sd)
        if isinstance(part, nn.Linear) and part.bias is not None:
            part.bias.zero_()
        if isinstance(part, nn.Embedding) and part.padding_idx is not None:
            part.weight[part.padding_idx].zero_()
        if isinstance(part, nn.LayerNorm):
            part.reset_parameters()


@torch.no_grad()
def ema_update(key: nn.Module, query: nn.Module, *, momentum: float) -> None:
    """Sets every parameter of `key` to momentum * key + (1 - momentum) * query, in place.

    Source: MoCo eq. 2. One fused call for all parameters. momentum 1 freezes the keys, 0 copies the query.
    After n updates towards a constant query: key_n = momentum^n key_0 + (1 - momentum^n) query.
    Buffers are not averaged (BERT-like encoders keep no running statistics). Modules without parameters are
    left alone.
    """
    keys: list[torch.Tensor] = list(key.parameters())
    queries: list[torch.Tensor] = list(query.parameters())
    if keys or queries:
        torch._foreach_lerp_(keys, queries, 1.0 - momentum)
