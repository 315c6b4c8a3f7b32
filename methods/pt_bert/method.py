"""PT-BERT (Tan et al. 2022): momentum contrast after a block of pseudo tokens.

Legend: B batch, n source positions, m pseudo tokens, d width, H heads, e = d / H.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.momentum import MomentumContrast, frozen_copy
from methods.core.networks import Networks
from methods.core.pooling import pool
from methods.core.types import Encoder, Tokens
from methods.pt_bert.config import Form, PTBertConfig


class PTBert(MomentumContrast):
    """Momentum contrast of head(block(pooled vector)); block and head are used in training only."""

    Config = PTBertConfig
    config: PTBertConfig

    def __init__(self, config: PTBertConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        self.block = PseudoTokenBlock(
            self.encoder.width,
            length=config.pseudo_length,
            heads=config.pseudo_heads,
            dropout=config.pseudo_dropout,
            form=config.pseudo_form,
        )
        self.key_block = frozen_copy(self.block)
        self.fixed_modes["key_block"] = config.key_dropout

    def queries(self, tokens: Tokens) -> Tensor:
        """Returns head(block(y)) of the trained side; [B, d]."""
        return self.head(self.block(*self.sources(self.encoder, tokens)))

    def keys(self, tokens: Tokens) -> Tensor:
        """Returns head(block(y)) of the momentum side; [B, d]."""
        # released code: the second attention of the key side reads the trained weights (README deviation 4)
        second = self.block if self.config.key_second_attention == "online" else self.key_block
        return self.key_head(self.key_block(*self.sources(self.key_encoder, tokens), second=second))

    def sources(
        self, encoder: SentenceEncoder, tokens: Tokens
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Returns the pooled vectors [B, d] and, if attended to, token states [B, L, d] and mask."""
        if self.config.pseudo_source != "tokens":
            return encoder(tokens), None, None
        states, mask = encoder.states(tokens), tokens.get("attention_mask")
        return pool(states, mask, encoder.pooling), states[-1], mask

    def averaged(self) -> list[tuple[nn.Module, nn.Module]]:
        """Returns the pairs of the moving average, including the block."""
        return [*super().averaged(), (self.key_block, self.block)]

    def exported(self) -> Encoder:
        """Returns the encoder, or the encoder with the block folded into one affine layer."""
        if self.config.export == "pooled":
            return self.encoder
        return SentenceEncoder(
            self.encoder.backbone,
            self.encoder.tokenizer,
            pooling=self.encoder.pooling,
            output=self.block.as_affine(),
        )


class PseudoTokenBlock(nn.Module):
    """Maps a sentence vector through two attentions that share their weights; [B, d] to [B, d].

    Source: PT-BERT section 3.2. Attention 1: the pseudo tokens are queries, the sentence is key and value.
    Attention 2: the sentence vector is the query, the m outputs of attention 1 are keys and values. No output
    layer, no residual. With the sentence vector as only key, attention 1 is a softmax over one number; up to
    dropout the block is then c(c(y)), with c the value layer, for any pseudo tokens.
    Forms: `plain` as in the paper; `factorised` the same numbers with the same dropout masks in O(d^2 + H m
    H) instead of O(m d^2); `collapsed` c(c(y)) without dropout.
    Errors: InputError if the heads do not divide the width.
    """

    def __init__(self, width: int, *, length: int, heads: int, dropout: float, form: Form) -> None:
        super().__init__()
        if width % heads:
            raise InputError(f"{heads} heads for width {width}: `pseudo_heads` must divide the width")
        self.tokens = nn.Parameter(torch.randn(length, width))
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.heads = heads
        self.dropout = dropout
        self.form = form

    def forward(
        self,
        pooled: Tensor,
        states: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        second: PseudoTokenBlock | None = None,
    ) -> Tensor:
        """Returns the sentence vectors after the block; [B, d].

        states: token states [B, n, d] with mask [B, n], keys of attention 1; None: the sentence vector.
        second: the block with the weights of attention 2; None: this block.
        """
        second = second or self
        if states is None and (self.form == "collapsed" or not self.training or self.dropout == 0):
            return second.value(self.value(pooled))
        sources = pooled.unsqueeze(1) if states is None else states  # [B, n, d]
        length = len(self.tokens)
        keep_first = self.keep(pooled, (length, sources.shape[1]))
        keep_second = self.keep(pooled, (1, length))
        if states is None and self.form == "factorised":
            return factorised(self, second, pooled, keep_first.squeeze(-1), keep_second.squeeze(-2))
        return plain(self, second, pooled, sources, mask, keep_first, keep_second)

    def keep(self, pooled: Tensor, shape: tuple[int, int]) -> Tensor:
        """Returns a dropout mask for attention weights, 0 or 1 / (1 - p); [B, H, *shape]."""
        full = (len(pooled), self.heads, *shape)
        if not self.training:
            return pooled.new_ones(full)
        return pooled.new_empty(full).bernoulli_(1 - self.dropout) / (1 - self.dropout)

    def split(self, vectors: Tensor) -> Tensor:
        """Returns vectors [..., n, d] split into heads; [..., H, n, e]."""
        return vectors.unflatten(-1, (self.heads, -1)).transpose(-3, -2)

    @torch.no_grad()
    def as_affine(self) -> nn.Linear:
        """Returns c(c(y)), the block without dropout, as one affine layer."""
        weight, bias = self.value.weight.double(), self.value.bias.double()
        layer = nn.Linear(weight.shape[1], weight.shape[0], device=weight.device)
        layer.weight.copy_(weight @ weight)
        layer.bias.copy_(weight @ bias + bias)
        return layer.requires_grad_(False)


def attend(asked: Tensor, keys: Tensor, values: Tensor, keep: Tensor, mask: Tensor | None = None) -> Tensor:
    """Returns scaled dot-product attention with a given dropout mask on its weights.

    Shapes: asked [(B,) H, q, e], keys and values [B, H, k, e], keep [B, H, q, k], mask [B, k] of 0 and 1;
    returns [B, H, q, e].
    """
    scores = asked @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])  # [B, H, q, k]
    if mask is not None:
        scores = scores.masked_fill(mask[:, None, None] == 0, -torch.inf)
    return (scores.softmax(dim=-1) * keep) @ values


def plain(
    first: PseudoTokenBlock,
    second: PseudoTokenBlock,
    pooled: Tensor,
    states: Tensor,
    mask: Tensor | None,
    keep_first: Tensor,
    keep_second: Tensor,
) -> Tensor:
    """Returns the output of the block as in the paper, attention by attention; [B, d].

    Shapes: pooled [B, d], states [B, n, d], mask [B, n] or None, keep_first [B, H, m, n], keep_second [B, H,
    1, m].
    """
    asked = first.split(first.query(first.tokens))  # [H, m, e]
    keys, values = first.split(first.key(states)), first.split(first.value(states))  # [B, H, n, e]
    answers = attend(asked, keys, values, keep_first, mask).transpose(1, 2).flatten(2)  # [B, m, d]
    asked = second.split(second.query(pooled.unsqueeze(1)))  # [B, H, 1, e]
    keys, values = second.split(second.key(answers)), second.split(second.value(answers))  # [B, H, m, e]
    return attend(asked, keys, values, keep_second).flatten(1)


def factorised(
    first: PseudoTokenBlock,
    second: PseudoTokenBlock,
    pooled: Tensor,
    keep_first: Tensor,
    keep_second: Tensor,
) -> Tensor:
    """Returns the result of `plain` with the sentence vector as only source, without m rows of width d.

    Every softmax of attention 1 is 1, so output j is c(y) with head a scaled by keep_first[a, j]: the key and
    value layers are applied to the H head slices of c(y) and summed per token afterwards. The key bias adds a
    constant to all scores of a head, which cancels in the softmax.
    Shapes: pooled [B, d], keep_first and keep_second [B, H, m]; returns [B, d].
    """
    heads = second.heads
    values = first.value(pooled).unflatten(-1, (heads, -1))  # [B, a, f]
    asked = second.query(pooled).unflatten(-1, (heads, -1)) / math.sqrt(values.shape[-1])  # [B, b, e]
    key_slices = second.key.weight.view(heads, values.shape[-1], heads, -1)  # [b, e, a, f]
    value_slices = second.value.weight.view(heads, values.shape[-1], heads, -1)
    seen = torch.einsum("nbe,beaf->nbaf", asked, key_slices)  # [B, b, a, f]
    scores = torch.einsum("nbaf,naf->nba", seen, values) @ keep_first  # [B, b, m]
    weights = scores.softmax(dim=-1) * keep_second  # [B, b, m]
    shares = weights @ keep_first.transpose(1, 2)  # [B, b, a]
    mixed = torch.einsum("nbaf,beaf->nbe", shares.unsqueeze(-1) * values.unsqueeze(1), value_slices)
    bias = weights.sum(dim=-1, keepdim=True) * second.value.bias.view(heads, -1)  # [B, b, e]
    return (mixed + bias).flatten(1)
