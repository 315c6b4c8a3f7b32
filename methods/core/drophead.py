"""Dropout of whole attention heads during training. Legend: B rows, H heads, L tokens, d width."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn

from methods.core.errors import InputError
from methods.core.fast.attention import DROP_HEAD
from methods.core.fast.packed import ARCHITECTURES
from methods.core.transfers import moved

WhenNoHeadIsLeft = Literal["redraw", "nan"]
"""A row that lost all its heads is drawn again, or divided by its 0 heads as in Mirror-BERT's code."""


class DropHead(nn.Module):
    """Drops each head of each row with chance `rate`; the heads that are kept make up for the others.

    One draw holds for all tokens of a row. With k of H heads kept, these are multiplied by H / k.
    Active in training mode only.
    Source: Mirror-BERT's code. Shapes: [B, H, L, d / H] to the same.
    """

    def __init__(self, rate: float, *, when_none: WhenNoHeadIsLeft) -> None:
        super().__init__()
        self.rate, self.when_none = rate, when_none

    def forward(self, heads: Tensor) -> Tensor:
        if not self.training or self.rate == 0:
            return heads
        kept = torch.rand(heads.shape[:2]) >= self.rate  # on the CPU, which has to see whether a row lost all
        while self.when_none == "redraw" and bool((lost := ~kept.any(dim=1)).any()):
            kept[lost] = torch.rand(int(lost.sum()), kept.shape[1]) >= self.rate
        scale = kept * (kept.shape[1] / kept.sum(dim=1, keepdim=True))  # [B, H]
        return heads * moved(scale[:, :, None, None].to(heads.dtype), heads.device)


def add_drop_head(backbone: nn.Module, rate: float, *, when_none: WhenNoHeadIsLeft) -> None:
    """Adds a DropHead to the self-attention of every layer, between the heads and the output projection.

    It has no weights, so what is saved of the backbone stays the same.
    Errors: InputError if the backbone is no BERT or RoBERTa.
    """
    if type(backbone).__name__ not in ARCHITECTURES:
        raise InputError(
            f"drophead in {type(backbone).__name__}, expected a BERT or RoBERTa; name such a backbone or set "
            "the rate to 0"
        )
    model: Any = backbone
    for layer in model.encoder.layer:
        attention = layer.attention.self
        attention.add_module(DROP_HEAD, DropHead(rate, when_none=when_none))
        attention.register_forward_hook(_on_joined_heads)


def _on_joined_heads(attention: Any, inputs: Any, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Applies the DropHead where the library computes the attention: on heads joined to [B, L, d]."""
    joined, *others = given
    heads = joined.unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
    return getattr(attention, DROP_HEAD)(heads).transpose(1, 2).flatten(2), *others
