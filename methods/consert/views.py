"""What makes a view of a sentence: other positions, or factors for the embedding layer's output.

Legend: B batch, L tokens, d width; n is a sentence's number of tokens, special ones included. Counts are
whole parts. Source: ConSERT's released code; DCLR's cutoffs count otherwise and spare the special tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor

ElementForm = Literal["exact-count", "bernoulli"]


def shuffled_positions(lengths: Sequence[int], *, first: int, rng: np.random.Generator) -> Tensor:
    """Returns position ids [B, L] from `first` on, those of the n real tokens in uniformly random order.

    Padding keeps its place.
    """
    positions = plain_positions(len(lengths), max(lengths), first=first)
    for row, length in enumerate(lengths):
        positions[row, :length] = torch.from_numpy(rng.permutation(length)) + first
    return positions


def plain_positions(rows: int, columns: int, *, first: int) -> Tensor:
    """Returns position ids [B, L] in their order, from `first` on."""
    return (torch.arange(columns) + first).repeat(rows, 1)


def token_cutoff(lengths: Sequence[int], *, rate: float, rng: np.random.Generator) -> Tensor:
    """Returns factors [B, L, 1], 0 for int(n rate) distinct tokens of each sentence."""
    factors = torch.ones(len(lengths), max(lengths), 1)
    for row, length in enumerate(lengths):
        factors[row, rng.permutation(length)[: int(length * rate)]] = 0.0
    return factors


def feature_cutoff(rows: int, width: int, *, rate: float, rng: np.random.Generator) -> Tensor:
    """Returns factors [B, 1, d], 0 for int(d rate) distinct features, another choice for each sentence."""
    factors = torch.ones(rows, 1, width)
    for row in range(rows):
        factors[row, 0, rng.permutation(width)[: int(width * rate)]] = 0.0
    return factors


def element_cutoff(
    lengths: Sequence[int], width: int, *, rate: float, form: ElementForm, rng: np.random.Generator
) -> Tensor:
    """Returns factors [B, L, d] for the numbers of each sentence's real tokens.

    `exact-count` zeroes int(n d rate) distinct ones and leaves the others as they are; `bernoulli` is
    dropout: each goes with probability `rate`, the others are divided by 1 - rate.
    """
    factors = torch.ones(len(lengths), max(lengths), width)
    for row, length in enumerate(lengths):
        if form == "exact-count":
            kept = np.ones(length * width, dtype=np.float32)
            kept[rng.choice(kept.size, int(kept.size * rate), replace=False)] = 0.0
        else:
            kept = (rng.random(length * width) >= rate).astype(np.float32) / np.float32(1.0 - rate)
        factors[row, :length] = torch.from_numpy(kept).view(length, width)
    return factors
