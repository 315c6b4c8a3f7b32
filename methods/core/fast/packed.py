"""Pooled vectors of a BERT-like backbone, computed from its real tokens without padding.

Everything except attention works token by token, so it runs on one matrix of the T real tokens of a batch;
only queries, keys and values are spread over rows. If only the first token is pooled, the last layer computes
everything after its attention for that token only. Values and gradients equal the backbone's own forward
pass; dropout has the same distribution with other draws.

Legend: B rows, L columns, T real tokens, H heads, d width.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from methods.core.dropout import dropout
from methods.core.fast.attention import Packing, attend
from methods.core.fast.linear import linear, linear_gelu
from methods.core.fast.plain import is_plain
from methods.core.pooling import needs_last_only, pool
from methods.core.types import MASK, mask_on_host

EXACT_GELU = "GELUActivation"
"""Transformers' class for GELU by the error function; approximations have other classes."""


def can_pack(backbone: Any, tokens: Mapping[str, Tensor]) -> bool:
    """Returns whether `pooled_vectors` computes what this backbone's own forward pass would.

    Rows of `tokens` start with a token, and nothing is attached to the backbone (see `is_plain`).
    """
    mask = mask_on_host(tokens)
    return (
        is_plain(backbone)
        and backbone.config._attn_implementation in ("sdpa", "eager")
        and not backbone.config.is_decoder
        and backbone.config.num_hidden_layers > 0
        and "token_type_ids" not in tokens
        and (mask is None or bool(mask[:, 0].all()))
    )


def pooled_vectors(
    backbone: Any,
    tokens: Mapping[str, Tensor],
    pooling: str,
    *,
    inputs_embeds: Tensor | None = None,
    position_ids: Tensor | None = None,
    embedding_factors: Tensor | None = None,
) -> Tensor:
    """Returns the pooled vectors [B, d], equal to the backbone's own forward pass and `pool`.

    Shapes: `input_ids` and, if rows differ in length, `attention_mask` [B, L]; `inputs_embeds` [B, L, d]
    replaces the word embeddings, `position_ids` [B, L] the backbone's own; `embedding_factors`, which
    broadcasts to [B, L, d], multiplies the embedding layer's output.
    """
    given = tokens["input_ids"] if inputs_embeds is None else inputs_embeds
    packing = Packing(given, tokens)
    hidden = _embedded(backbone.embeddings, packing, given, inputs_embeds, position_ids)  # [T, d]
    if embedding_factors is not None:
        hidden = hidden * packing.pack(embedding_factors.expand(packing.rows, packing.columns, -1))
    *layers, last = backbone.encoder.layer
    states = [hidden]
    for layer in layers:
        hidden = _layer(layer, hidden, packing)
        states = [hidden] if needs_last_only(pooling) else [*states, hidden]
    if pooling == "cls":
        return _layer(last, hidden, packing, first_only=True)  # [B, d]
    hidden = _layer(last, hidden, packing)
    read = [hidden] if needs_last_only(pooling) else [*states, hidden]
    return pool([packing.unpack(state) for state in read], tokens.get(MASK), pooling)


def token_states(backbone: Any, embedded: Tensor, tokens: Mapping[str, Tensor]) -> Tensor:
    """Returns the last states of all positions, padding included, from the output of the embedding layer.

    For backbones of ARCHITECTURES; no token attends to padding.
    Shapes: [B, L, d] to the same.
    """
    packing = Packing(embedded, tokens, with_padding=True)
    hidden = embedded.flatten(0, 1)  # [B L, d]
    for layer in backbone.encoder.layer:
        hidden = _layer(layer, hidden, packing)
    return packing.unpack(hidden)


def _embedded(
    embeddings: Any,
    packing: Packing,
    given: Tensor,
    inputs_embeds: Tensor | None,
    position_ids: Tensor | None,
) -> Tensor:
    if position_ids is not None:
        positions = position_ids
    elif hasattr(embeddings, "create_position_ids_from_input_ids"):  # RoBERTa counts from its padding index
        if inputs_embeds is None:
            positions = embeddings.create_position_ids_from_input_ids(given, embeddings.padding_idx)
        else:
            positions = embeddings.create_position_ids_from_inputs_embeds(given, embeddings.padding_idx)
    else:
        positions = embeddings.position_ids[:, : packing.columns].expand(packing.rows, -1)
    words = packing.pack(given)
    if inputs_embeds is None:
        words = embeddings.word_embeddings(words)
    typed = words + embeddings.token_type_embeddings.weight[0]
    normed = embeddings.LayerNorm(typed + embeddings.position_embeddings(packing.pack(positions)))
    return dropout(embeddings.dropout, normed)


def _layer(layer: Any, hidden: Tensor, packing: Packing, *, first_only: bool = False) -> Tensor:
    """Returns the layer's output for all tokens [T, d], or for the first of each row [B, d]."""
    attention = layer.attention.self
    query = linear(attention.query, packing.first_tokens(hidden) if first_only else hidden)  # [B or T, d]
    key, value = linear(attention.key, hidden), linear(attention.value, hidden)
    read = attend(attention, query, key, value, packing, first_only=first_only)
    # Not shared with the query: gradients would add up in another order, and last digits would change.
    residual = packing.first_tokens(hidden) if first_only else hidden
    attended = _added(layer.attention.output, read, residual)
    return _added(layer.output, _activated(layer.intermediate, attended), attended)


def _activated(part: Any, hidden: Tensor) -> Tensor:
    if type(part.intermediate_act_fn).__name__ == EXACT_GELU:
        return linear_gelu(part.dense, hidden)
    return part.intermediate_act_fn(linear(part.dense, hidden))


def _added(part: Any, hidden: Tensor, residual: Tensor) -> Tensor:
    made = dropout(part.dropout, linear(part.dense, hidden))
    if torch.is_grad_enabled() or made.dtype != residual.dtype:
        return part.LayerNorm(made + residual)
    return part.LayerNorm(made.add_(residual))
