"""Attention of the real tokens of a padded batch, and the conversion between packed tokens and padded rows.

Legend: B rows, L columns, T real tokens, H heads, d width.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from methods.core.dropout import DROP_HEAD, dropout
from methods.core.types import MASK, mask_on_host, moved


class Packing:
    """A padded batch: the positions of its real tokens among B times L, and its mask.

    given: the batch, [B, L] or [B, L, d]. tokens: with an optional mask [B, L], 1 for attended positions.
    with_padding: padding counts as real tokens that are never attended to; T is then B times L.
    Attributes: mask [B, 1, 1, L] bool, None if every position is attended to; positions [T], None if T is B
    times L.
    """

    def __init__(self, given: Tensor, tokens: Mapping[str, Tensor], *, with_padding: bool = False) -> None:
        self.rows, self.columns = given.shape[:2]
        self.mask: Tensor | None = None
        self.positions: Tensor | None = None
        self._of_heads: dict[int, tuple[Tensor, Tensor]] = {}
        on_host = mask_on_host(tokens)  # so that the device is not asked
        if on_host is None or bool(on_host.all()):
            return
        self.mask = tokens[MASK].bool()[:, None, None, :]
        if not with_padding:
            device, attended = self.mask.device, on_host.bool()
            lengths = attended.sum(dim=1)
            self.positions = moved(attended.flatten().nonzero().squeeze(1), device)
            self.sources = moved((attended.flatten().cumsum(0) - 1).clamp_min(0), device)  # [B L]
            self.first = moved(lengths.cumsum(0) - lengths, device)  # [B]

    def pack(self, padded: Tensor) -> Tensor:
        """Returns the real tokens; [B, L, ...] to [T, ...]."""
        flat = padded.flatten(0, 1)
        return flat if self.positions is None else flat.index_select(0, self.positions)

    def unpack(self, packed: Tensor) -> Tensor:
        """Returns the tokens in their rows; [T, d] to [B, L, d].

        Padding becomes a copy of the token before it: no token may attend to it, and it gets no gradient.
        """
        if self.positions is not None:
            packed = _Scatter.apply(packed, self.sources, self.positions)
        return packed.unflatten(0, (self.rows, self.columns))

    def to_heads(self, packed: Tensor, heads: int) -> Tensor:
        """Returns the tokens of each row and head, with copies as in `unpack`; [T, d] to [B H, L, d / H]."""
        if self.positions is None:
            rows = packed.unflatten(0, (self.rows, self.columns)).unflatten(-1, (heads, -1))
            return rows.transpose(1, 2).flatten(0, 1)
        sources, positions = self._indices(heads)
        parts = _Scatter.apply(packed.reshape(len(packed) * heads, -1), sources, positions)
        return parts.unflatten(0, (self.rows * heads, self.columns))

    def from_heads(self, read: Tensor, heads: int) -> Tensor:
        """Returns the joined heads of each real token; [B H, L, d / H] to [T, d]."""
        if self.positions is None:
            return read.unflatten(0, (self.rows, heads)).transpose(1, 2).flatten(2).flatten(0, 1)
        _, positions = self._indices(heads)
        return _Chosen.apply(read.flatten(0, 1), positions).unflatten(0, (-1, heads)).flatten(1)

    def first_tokens(self, packed: Tensor) -> Tensor:
        """Returns the first token of every row; [T, d] to [B, d]."""
        return packed[:: self.columns] if self.positions is None else packed[self.first]

    def _indices(self, heads: int) -> tuple[Tensor, Tensor]:
        """Returns sources [B H L] and positions [T H] of parts of tokens."""
        if heads not in self._of_heads:
            assert self.positions is not None
            head = torch.arange(heads, device=self.positions.device)
            sources = self.sources.view(self.rows, 1, self.columns) * heads + head[:, None]
            row, column = self.positions // self.columns, self.positions % self.columns
            positions = (row[:, None] * heads + head) * self.columns + column[:, None]
            self._of_heads[heads] = sources.flatten(), positions.flatten()
        return self._of_heads[heads]


class _Scatter(torch.autograd.Function):
    """Gathers rows that may repeat; only the positions in `back`, one per row, get a gradient."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, index: Tensor, back: Tensor) -> Tensor:
        ctx.save_for_backward(back)
        return rows.index_select(0, index)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return gradient.index_select(0, *ctx.saved_tensors), None, None


class _Chosen(torch.autograd.Function):
    """Gathers rows without repetition."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, index: Tensor) -> Tensor:
        ctx.save_for_backward(index)
        ctx.count = len(rows)
        return rows.index_select(0, index)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (index,) = ctx.saved_tensors
        return gradient.new_zeros(ctx.count, gradient.shape[1]).index_copy_(0, index, gradient), None


def attend(
    attention: Any, query: Tensor, key: Tensor, value: Tensor, packing: Packing, *, first_only: bool
) -> Tensor:
    """Returns the attention output of the queries; key and value are [T, d], queries and result [T, d].

    first_only: queries and result are [B, d], of the first token of every row. With dropout of weights a CPU
    uses `by_products`: torch's attention would also compute single products, draw slowly and copy tokens more
    often.
    """
    drops_weights = attention.training and attention.dropout.p > 0 and not hasattr(attention, DROP_HEAD)
    on_cpu = query.device.type == "cpu" and not torch.is_autocast_enabled("cpu")
    how = by_products if drops_weights and on_cpu else in_padded_rows
    return how(attention, query, key, value, packing, first_only=first_only)


def in_padded_rows(
    attention: Any, query: Tensor, key: Tensor, value: Tensor, packing: Packing, *, first_only: bool
) -> Tensor:
    """Returns the result of `attend`, from torch's attention over B rows of L columns."""

    def in_heads(padded: Tensor) -> Tensor:
        return padded.unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)

    read = functional.scaled_dot_product_attention(
        in_heads(query.unsqueeze(1) if first_only else packing.unpack(query)),
        in_heads(packing.unpack(key)),
        in_heads(packing.unpack(value)),
        attn_mask=packing.mask,
        dropout_p=_rate(attention),
    )  # [B, H, 1 or L, d / H]
    if hasattr(attention, DROP_HEAD):
        read = getattr(attention, DROP_HEAD)(read)
    joined = read.transpose(1, 2).flatten(2)  # [B, 1 or L, d]
    return joined.squeeze(1) if first_only else packing.pack(joined)


def by_products(
    attention: Any, query: Tensor, key: Tensor, value: Tensor, packing: Packing, *, first_only: bool
) -> Tensor:
    """Returns the result of `attend`, from single products, with the masks of methods/core/dropout.py."""
    heads = attention.num_attention_heads
    queries = query.reshape(packing.rows * heads, 1, -1) if first_only else packing.to_heads(query, heads)
    keys = packing.to_heads(key, heads).transpose(1, 2)
    scale = queries.shape[-1] ** -0.5
    if packing.mask is None:
        scores = torch.bmm(queries * scale, keys)  # [B H, 1 or L, L]
    else:
        hidden = queries.new_zeros(packing.mask.shape).masked_fill(~packing.mask, -torch.inf)
        hidden = hidden.expand(-1, heads, -1, -1).flatten(0, 1)  # [B H, 1, L]
        scores = torch.baddbmm(hidden, queries, keys, alpha=scale)
    weights = dropout(attention.dropout, scores.softmax(dim=-1))
    read = torch.bmm(weights, packing.to_heads(value, heads))  # [B H, 1 or L, d / H]
    return read.reshape(packing.rows, -1) if first_only else packing.from_heads(read, heads)


def _rate(attention: Any) -> float:
    return attention.dropout.p if attention.training else 0.0
