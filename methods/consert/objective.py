"""The objective of ConSERT as the sum of its two sides; Legend: B batch, d width. Cosines, in nats."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from methods.core.losses import cosine_similarities


def one_side(anchors: Tensor, others: Tensor, *, temperature: float) -> Tensor:
    """Returns the mean cross-entropy of the anchors of one view: own other view against 2B - 1 vectors.

    Row i has the cosines with all B vectors of the other view, of which i is the positive, and with the B - 1
    other vectors of its own view, over the temperature.
    Shapes: anchors [B, d], others [B, d]; returns a scalar.
    Facts: log(2B - 1) when all vectors are equal; 0 for B = 1.
    """
    across = cosine_similarities(anchors, others)  # [B, B]
    within = cosine_similarities(anchors, anchors)
    itself = torch.eye(len(anchors), dtype=torch.bool, device=anchors.device)
    logits = torch.cat([across, within.masked_fill(itself, -torch.inf)], dim=1) / temperature  # [B, 2B]
    return functional.cross_entropy(logits, torch.arange(len(anchors), device=logits.device))


def two_sides(first: Tensor, second: Tensor, *, temperature: float) -> Tensor:
    """Returns the sum of `one_side` of both views: twice the mean over 2B anchors, which is NT-Xent.

    Source: the released code; the paper's equation is the mean.
    Shapes: first [B, d], second [B, d]; returns a scalar.
    """
    return one_side(first, second, temperature=temperature) + one_side(second, first, temperature=temperature)
