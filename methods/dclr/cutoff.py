"""Factors that erase word embeddings of the second view; Legend: B batch, L tokens, d width.

Special tokens at both ends are never erased; lengths count them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


def cut_tokens(lengths: Sequence[int], *, rate: float, rng: np.random.Generator) -> Tensor:
    """Returns factors [B, L, 1], 0 for a share `rate` of each sentence's tokens, drawn without order."""
    keep = torch.ones(len(lengths), max(lengths), 1)
    for row, length in enumerate(lengths):
        inner = length - 2
        keep[row, 1 + rng.permutation(inner)[: cut_count(inner, rate)]] = 0.0
    return keep


def cut_span(lengths: Sequence[int], *, rate: float, rng: np.random.Generator) -> Tensor:
    """Returns factors [B, L, 1], 0 for one run of neighbours, a share `rate` of each sentence's tokens."""
    keep = torch.ones(len(lengths), max(lengths), 1)
    for row, length in enumerate(lengths):
        inner = length - 2
        count = cut_count(inner, rate)
        start = 1 + int(rng.integers(inner - count + 1))
        keep[row, start : start + count] = 0.0
    return keep


def cut_features(count: int, width: int, *, rate: float, rng: np.random.Generator) -> Tensor:
    """Returns factors [B, 1, d], 0 for a share `rate` of the features, another choice for each sentence."""
    keep = torch.ones(count, 1, width)
    for row in range(count):
        keep[row, 0, rng.permutation(width)[: cut_count(width, rate)]] = 0.0
    return keep


def cut_count(total: int, rate: float) -> int:
    """Returns how many of `total` things are cut: the rounded share, at least one where there is one."""
    return min(total, max(1, round(rate * total)))
