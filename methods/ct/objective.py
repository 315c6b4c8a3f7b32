"""The losses of contrastive tension as pure functions. Legend: n pairs, B sentences, d width."""

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from methods.core.losses import cosine_similarities, wide

Reduction = Literal["mean", "sum"]
Similarity = Literal["cosine", "dot"]


def scores(first: Tensor, second: Tensor) -> Tensor:
    """Returns the dot product of each pair.

    Shapes: both [n, d]; returns [n] in fp32 or wider.
    """
    with torch.autocast(first.device.type, enabled=False):
        return (wide(first) * wide(second)).sum(dim=-1)


def tension(first: Tensor, second: Tensor, same: Tensor, *, reduction: Reduction = "mean") -> Tensor:
    """Returns the binary cross-entropy of classifying pairs as equal or random by their dot product.

    Source: CT section 3 and its code, as softplus(z) - y z, which is finite for every z.
    Shapes: first (of network 1) and second (of network 2) [n, d], same [n] of 0 and 1; returns a scalar.
    Gradients: (sigmoid(z) - y) second / n to first, and likewise to second.
    Facts: log 2 if all z are 0.
    """
    z = scores(first, second)
    return functional.binary_cross_entropy_with_logits(z, same.to(z.dtype), reduction=reduction)


def in_batch_tension(
    first: Tensor, second: Tensor, *, scale: Tensor, similarity: Similarity = "cosine"
) -> Tensor:
    """Returns the mean cross-entropy of each sentence's positive, over rows and columns.

    Source: sentence-transformers, its "improved" form, which is not in the paper. Its default is the cosine
    with scale 20; its example uses dot products with scale 1.
    Shapes: first and second [B, d], scale a positive scalar that multiplies the similarity; returns a scalar.
    """
    logits = scale * similarities(first, second, similarity)  # [B, B]
    index = torch.arange(len(logits), device=logits.device)
    return (functional.cross_entropy(logits, index) + functional.cross_entropy(logits.T, index)) / 2


def similarities(first: Tensor, second: Tensor, similarity: Similarity) -> Tensor:
    """Returns the similarities of all pairs: [B, B] of both [B, d], in fp32 or wider."""
    if similarity == "cosine":
        return cosine_similarities(first, second)
    return scores(first[:, None], second[None, :])
