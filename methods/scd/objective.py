"""The terms of SCD's loss as pure functions. Legend: B sentences, d width, D width of the projections."""

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from methods.core.losses import unit, wide
from methods.core.types import Loss

Reduction = Literal["mean", "sum"]
"""Reductions of a batch's cosines."""


class Decorrelation(NamedTuple):
    """Terms of a cross-correlation matrix C: sums of (C_ii - 1)^2 and off-diagonal C_ij^2, mean of C_ii."""

    diagonal: Tensor
    off_diagonal: Tensor
    diagonal_mean: Tensor


def self_contrast(first: Tensor, second: Tensor, *, scale: float, reduction: Reduction = "mean") -> Tensor:
    """Returns `scale` times the cosine of the two views of each sentence; minimising it separates the views.

    Source: SCD eq. 1, where scale is 1; its code divides by a temperature.
    Shapes: [B, d]; a scalar.
    Facts: `scale` for equal views; its gradient is 0 there.
    """
    with torch.autocast(first.device.type, enabled=False):
        cosines = (unit(first) * unit(second)).sum(dim=-1)
    return scale * (cosines.mean() if reduction == "mean" else cosines.sum())


def decorrelation(first: Tensor, second: Tensor) -> Decorrelation:
    """Returns the distance of the correlation matrix C of two views' columns from the identity.

    Source: SCD eq. 2 (Barlow Twins), C = P^T Q / B.
    Shapes: [B, D] twice, every column of mean 0 and variance 1 over the batch; three scalars, in fp32 or
    wider. C is not computed: the sum of all C_ij^2 equals the sum of (P P^T)_mn (Q Q^T)_mn / B^2. The
    diagonal is subtracted, so the rest may be below 0 by rounding.
    """
    with torch.autocast(first.device.type, enabled=False):
        left, right = wide(first), wide(second)
        diagonal = (left * right).mean(dim=0)
        every = (left @ left.T * (right @ right.T)).sum() / len(left) ** 2
    return Decorrelation((diagonal - 1).square().sum(), every - diagonal.square().sum(), diagonal.mean())


def scd_loss(
    first: Tensor,
    second: Tensor,
    projected_first: Tensor,
    projected_second: Tensor,
    *,
    self_contrast_weight: float,
    self_contrast_scale: float,
    self_contrast_reduction: Reduction,
    decorrelation_weight: float,
    off_diagonal_weight: float,
) -> Loss:
    """Returns the weighted sum of self-contrast and decorrelation; its parts are the unweighted terms.

    Source: SCD eq. 3.
    Shapes: first, second [B, d]; the projections [B, D], normalised over the batch.
    Gradients: flow to all four.
    """
    apart = self_contrast(first, second, scale=self_contrast_scale, reduction=self_contrast_reduction)
    terms = decorrelation(projected_first, projected_second)
    alike = terms.diagonal + off_diagonal_weight * terms.off_diagonal
    width = projected_first.shape[1]
    # fp32 roots differ between vendors in portable arithmetic; rounded float64 roots do not
    mean_square = terms.off_diagonal.clamp_min(0).double() / max(1, width * (width - 1))
    parts = {
        "self_contrast": apart,
        "decorrelation": alike,
        "diagonal_mean": terms.diagonal_mean,
        "off_diagonal_rms": mean_square.sqrt().to(terms.off_diagonal),
    }
    total = self_contrast_weight * apart + decorrelation_weight * alike
    return Loss(total, {name: part.detach() for name, part in parts.items()})
