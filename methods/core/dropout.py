"""Dropout rates of a network, fast dropout masks on a CPU, and dropout of whole attention heads.

Masks are drawn four elements at a time, in an eighth of the time of torch's own dropout (measured on an Intel
Xeon). Each element gets 16 bits of torch's generator, so a rate is rounded to a multiple of 2**-16; kept
elements are divided by the rounded share, so the expectation is exact.
Legend: B rows, H heads, L tokens, d width.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from methods.core.errors import InputError
from methods.core.types import ARCHITECTURES, moved

LEVELS = 2**16
"""Number of values of the bits of an element."""

DROP_HEAD = "drop_head"
"""Name of the submodule of an attention layer that drops whole heads."""

WhenNoHeadIsLeft = Literal["redraw", "nan"]
"""A row that loses all its heads is drawn again, or divided by its 0 heads as in Mirror-BERT's code."""


def set_dropout(module: nn.Module, rate: float) -> None:
    """Sets the rate of every dropout layer: embeddings, attention and both outputs of a layer."""
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = rate


@contextmanager
def dropout_rate(module: nn.Module, rate: float) -> Iterator[None]:
    """Sets the rate of every dropout layer and restores the previous rates; backward may run later."""
    rates = {part: part.p for part in module.modules() if isinstance(part, nn.Dropout)}
    set_dropout(module, rate)
    try:
        yield
    finally:
        for part, previous in rates.items():
            part.p = previous


def dropout(part: nn.Dropout, inputs: Tensor) -> Tensor:
    """Returns `part(inputs)` with masks of `dropped`; of the same shape."""
    return dropped(inputs, part.p) if part.training else inputs


def dropped(inputs: Tensor, rate: float) -> Tensor:
    """Returns the inputs with a share `rate` of the elements zero and the others scaled up.

    On other devices, and for rates that round to 0 or 1, torch draws the mask.
    """
    level = round(rate * LEVELS)
    if inputs.device.type != "cpu" or not 0 < level < LEVELS:
        return functional.dropout(inputs, rate)
    return _Dropped.apply(inputs, level)


def kept(shape: torch.Size, level: int) -> Tensor:
    """Returns 1 for elements that are kept and 0 for `level` of 2**16 others, drawn by torch's generator."""
    count = shape.numel()
    bits = torch.empty(-(-count // 4), dtype=torch.int64).random_(torch.iinfo(torch.int64).min, None)
    chosen = bits.view(torch.int16)[:count] >= level - LEVELS // 2
    return chosen.view(torch.int8).view(shape)


class _Dropped(torch.autograd.Function):
    """The product with a mask, whose gradient is the product with the same mask."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, level: int) -> Tensor:
        mask = kept(inputs.shape, level)
        ctx.save_for_backward(mask)
        ctx.scale = LEVELS / (LEVELS - level)
        return (inputs * mask).mul_(ctx.scale)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (mask,) = ctx.saved_tensors
        return (gradient * mask).mul_(ctx.scale), None


class DropHead(nn.Module):
    """Drops each head of each row with probability `rate` and scales up the other heads.

    One draw holds for all tokens of a row. With k of H heads kept, they are multiplied by H / k. Active in
    training mode only.
    Source: Mirror-BERT's code.
    Shapes: [B, H, L, d / H] to the same.
    """

    def __init__(self, rate: float, *, when_none: WhenNoHeadIsLeft) -> None:
        super().__init__()
        self.rate, self.when_none = rate, when_none

    def forward(self, heads: Tensor) -> Tensor:
        if not self.training or self.rate == 0:
            return heads
        kept = torch.rand(heads.shape[:2]) >= self.rate  # on the CPU, which checks for rows without any head
        while self.when_none == "redraw" and bool((lost := ~kept.any(dim=1)).any()):
            kept[lost] = torch.rand(int(lost.sum()), kept.shape[1]) >= self.rate
        scale = kept * (kept.shape[1] / kept.sum(dim=1, keepdim=True))  # [B, H]
        return heads * moved(scale[:, :, None, None].to(heads.dtype), heads.device)


def add_drop_head(backbone: nn.Module, rate: float, *, when_none: WhenNoHeadIsLeft) -> None:
    """Adds a DropHead to the self-attention of every layer, between the heads and the output projection.

    It has no weights, so the saved backbone stays the same.
    Errors: InputError unless the backbone is a BERT or RoBERTa.
    """
    if type(backbone).__name__ not in ARCHITECTURES:
        raise InputError(
            f"drophead needs a BERT or RoBERTa, not a {type(backbone).__name__}; set the rate to 0"
        )
    model: Any = backbone
    for layer in model.encoder.layer:
        attention = layer.attention.self
        attention.add_module(DROP_HEAD, DropHead(rate, when_none=when_none))
        attention.register_forward_hook(on_joined_heads)


def on_joined_heads(attention: Any, inputs: Any, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Applies the DropHead to the joined heads [B, L, d] that the library's attention returns."""
    joined, *others = given
    heads = joined.unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
    return getattr(attention, DROP_HEAD)(heads).transpose(1, 2).flatten(2), *others
