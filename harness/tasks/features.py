"""The features of a classifier: a frozen vector, or a combination of a pair's two vectors.

Shapes: U unique vectors of width d, N examples, D features and a constant 1 that carries the bias.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

Combine = Callable[[Tensor, Tensor], Tensor]
"""Vectors u, v [n, d] of pairs to features [n, D]."""

DENSE_BYTES = 1 << 30
"""Pair features up to this size are computed once; larger ones are computed for each batch."""


class Features(Protocol):
    """N rows of features, each ending in a constant 1."""

    width: int  # D + 1

    def take(self, rows: Tensor) -> Tensor:
        """Returns the features of `rows` [n] as [n, D + 1], fp32."""
        ...


class MatrixFeatures:
    """Features held as one matrix [N, D]."""

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = _with_constant(matrix)
        self.width = self.matrix.shape[1]

    def take(self, rows: Tensor) -> Tensor:
        return self.matrix.index_select(0, rows)


class PairFeatures:
    """Features computed when taken, from the vectors [U, d] and the two vector rows [N] of each pair."""

    def __init__(self, vectors: Tensor, first: Tensor, second: Tensor, combine: Combine) -> None:
        self.vectors, self.first, self.second, self.combine = vectors, first, second, combine
        self.width = self.take(first[:0]).shape[1]

    def take(self, rows: Tensor) -> Tensor:
        u, v = (self.vectors.index_select(0, side[rows]) for side in (self.first, self.second))
        return _with_constant(self.combine(u, v))


def difference_and_product(u: Tensor, v: Tensor) -> Tensor:
    """Returns [|u - v|; u * v], SentEval's features of MRPC and SICK; symmetric in u and v."""
    return torch.cat([(u - v).abs(), u * v], dim=1)


def both_product_and_difference(u: Tensor, v: Tensor) -> Tensor:
    """Returns [u; v; u * v; |u - v|], SentEval's features of SNLI."""
    return torch.cat([u, v, u * v, (u - v).abs()], dim=1)


def pair_features(vectors: Tensor, first: Tensor, second: Tensor, combine: Combine) -> Features:
    """Returns the features of N pairs, as one matrix if it takes at most DENSE_BYTES."""
    features = PairFeatures(vectors, first, second, combine)
    if 4 * len(first) * features.width > DENSE_BYTES:
        return features
    return MatrixFeatures(combine(vectors[first], vectors[second]))


def _with_constant(matrix: Tensor) -> Tensor:
    return torch.cat([matrix, matrix.new_ones(len(matrix), 1)], dim=1)
