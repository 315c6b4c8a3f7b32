"""The loss of a step that carries corrupted sentences, in the two presets of the paper.

Legend: B sentences, d width. Similarity is the cosine, temperature divides it. Plain steps are `nt_xent`.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from methods.core.losses import cosine_similarities, nt_xent


def pair_loss(
    anchors: Tensor, positives: Tensor, first: Tensor, second: Tensor, *, temperature: float
) -> Tensor:
    """Returns NT-Xent over 2B sentences: the anchors and their corrupted copies, each with its own positive.

    Source: the released code; a copy is encoded twice, drawn to its other view, pushed from all else.
    Shapes: each [B, d]; returns a scalar in nats. Gradients: flow to all four.
    Facts: log(4B - 1) when all vectors are equal; log 3 if every copy equals its anchor and sentences are
    orthogonal, as the temperature falls.
    """
    return nt_xent(torch.cat([anchors, first]), torch.cat([positives, second]), temperature=temperature)


def column_loss(anchors: Tensor, positives: Tensor, negatives: Tensor, *, temperature: float) -> Tensor:
    """Returns NT-Xent over the B sentences with the B corrupted copies as further negatives of every row.

    Source: the paper's text, which never draws negatives together; its eq. 1 leaves anchor and positive out
    of the denominator and can fall below 0, so the NT-Xent denominator is kept.
    Shapes: each [B, d]; returns a scalar in nats. Gradients: flow to all three.
    Facts: log(3B - 1) when all vectors are equal; `nt_xent` without negatives.
    """
    both = torch.cat([anchors, positives])  # [2B, d]
    logits = cosine_similarities(both, torch.cat([both, negatives])) / temperature  # [2B, 3B]
    index = torch.arange(len(both), device=both.device)
    itself = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, index[:, None], True)
    partner = (index + len(anchors)) % len(both)
    return functional.cross_entropy(logits.masked_fill(itself, -torch.inf), partner)
