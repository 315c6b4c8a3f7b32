"""Momentum encoders: an exponential moving average of another network's parameters."""

from __future__ import annotations

import torch
from torch import nn


@torch.no_grad()
def ema_update(key: nn.Module, query: nn.Module, *, momentum: float) -> None:
    """Sets every parameter of `key` to momentum * key + (1 - momentum) * query, in place.

    Source: MoCo eq. 2. One fused call for all parameters. momentum 1 freezes the keys, 0 copies the query.
    After n updates towards a constant query: key_n = momentum^n key_0 + (1 - momentum^n) query.
    Buffers are not averaged (BERT-like encoders keep no running statistics).
    """
    keys: list[torch.Tensor] = list(key.parameters())
    queries: list[torch.Tensor] = list(query.parameters())
    torch._foreach_lerp_(keys, queries, 1.0 - momentum)
