"""Attention of packed tokens: in padded rows, or in rows of their own lengths on a GPU.

Both read the same; sums are taken in another order, and dropout draws other masks.

Legend: B rows, L columns, T real tokens, H heads, d width.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from methods.core.fast.choices import layers_on
from methods.core.fast.dropout import dropout
from methods.core.fast.packing import Packing, Rows

DROP_HEAD = "drop_head"
"""Name of a part of an attention that drops whole heads of what was read, where one was added."""


def attend(
    attention: Any, query: Tensor, key: Tensor, value: Tensor, packing: Packing, *, first_only: bool
) -> Tensor:
    """Returns what the queries read; key and value are [T, d], queries and result [T, d].

    first_only: queries and result are [B, d], of the first token of every row.
    """
    if _drops_weights(attention, query):
        how = by_products
    elif (
        layers_on(query.device.type) == "varlen"
        and packing.lengths is not None
        and not hasattr(attention, DROP_HEAD)
    ):
        how = in_own_lengths
    else:
        how = in_padded_rows
    return how(attention, query, key, value, packing, first_only=first_only)


def in_padded_rows(
    attention: Any, query: Tensor, key: Tensor, value: Tensor, packing: Packing, *, first_only: bool
) -> Tensor:
    """Returns what `attend` does, by torch's attention over B rows of L columns."""
    read = functional.scaled_dot_product_attention(
        _heads(query.unsqueeze(1) if first_only else packing.unpack(query), attention),
        _heads(packing.unpack(key), attention),
        _heads(packing.unpack(value), attention),
        attn_mask=packing.mask,
        dropout_p=_rate(attention),
    )  # [B, H, 1 or L, d / H]
    if hasattr(attention, DROP_HEAD):
        read = getattr(attention, DROP_HEAD)(read)
    joined = read.transpose(1, 2).flatten(2)  # [B, 1 or L, d]
    return joined.squeeze(1) if first_only else packing.pack(joined)


def in_own_lengths(
    attention: Any, query: Tensor, key: Tensor, value: Tensor, packing: Packing, *, first_only: bool
) -> Tensor:
    """Returns what `attend` does, by torch's attention over nested tensors: no product with padding.

    For a packing with lengths.
    """
    heads, rows = attention.num_attention_heads, packing.own_rows()
    queries = packing.single_rows() if first_only else rows
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The PyTorch API of nested tensors")
        read = functional.scaled_dot_product_attention(
            _nested(query, queries, heads),
            _nested(key, rows, heads),
            _nested(value, rows, heads),
            dropout_p=_rate(attention),
        )  # [B, H, 1 or own length, d / H]
    return read.transpose(1, 2).values().flatten(1)


def by_products(
    attention: Any, query: Tensor, key: Tensor, value: Tensor, packing: Packing, *, first_only: bool
) -> Tensor:
    """Returns what `attend` does, by single products, with the masks of methods/core/fast/dropout.py."""
    heads = attention.num_attention_heads
    queries = query.reshape(packing.rows * heads, 1, -1) if first_only else packing.to_heads(query, heads)
    keys, hidden = packing.to_heads(key, heads).transpose(1, 2), packing.hidden(heads)
    scale = queries.shape[-1] ** -0.5
    if hidden is None:
        scores = torch.bmm(queries * scale, keys)  # [B H, 1 or L, L]
    else:
        scores = torch.baddbmm(hidden.to(queries.dtype), queries, keys, alpha=scale)
    weights = dropout(attention.dropout, scores.softmax(dim=-1))
    read = torch.bmm(weights, packing.to_heads(value, heads))  # [B H, 1 or L, d / H]
    return read.reshape(packing.rows, -1) if first_only else packing.from_heads(read, heads)


def _drops_weights(attention: Any, query: Tensor) -> bool:
    """Returns whether dropout of attention's weights is to be drawn, by a CPU in the states' own precision.

    torch's attention then goes by single products too, with its slow draws, and copies tokens more often.
    """
    drops = attention.training and attention.dropout.p > 0 and not hasattr(attention, DROP_HEAD)
    return drops and query.device.type == "cpu" and not torch.is_autocast_enabled("cpu")


def _rate(attention: Any) -> float:
    return attention.dropout.p if attention.training else 0.0


def _nested(packed: Tensor, rows: Rows, heads: int) -> Tensor:
    """Returns tokens in these rows; [T, d] to [B, H, own length, d / H]."""
    parts = packed.unflatten(-1, (heads, -1))
    nested = torch.nested.nested_tensor_from_jagged(
        parts, rows.ends, min_seqlen=rows.shortest, max_seqlen=rows.longest
    )
    return nested.transpose(1, 2)


def _heads(padded: Tensor, attention: Any) -> Tensor:
    return padded.unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
