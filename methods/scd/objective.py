"""The terms of SCD's loss as pure functions. Legend: B sentences, d width, D width of the projections."""

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from methods.core.losses import unit, wide
from methods.core.types import Loss

Reduction = Literal["mean", "sum"]
"""Aggregations of a batch's cosines to one number."""


class Decorrelation(NamedTuple):
    """Of a cross-correlation matrix C: sums of (C_ii - 1)^2 and of C_ij^2 off the diagonal, mean of C_ii."""

    diagonal: Tensor
    off_diagonal: Tensor
    diagonal_mean: Tensor


def self_contrast(first: Tensor, second: Tensor, *, scale: float, reduction: Reduction = "mean") -> Tensor:
    """Returns `scale` times the cosine of the two views of each sentence; minimised, so it drives them apart.

    Source: SCD eq. 1, where scale is 1; its code divides by a temperature. Shapes: [B, d]; a scalar.
    Facts: `scale` for equal views; its gradient is 0 there.
    """
    with torch.autocast(first.device.type, enabled=False):
        cosines = (unit(first) * unit(second)).sum(dim=-1)
    return scale * (cosines.mean() if reduction == "mean" else cosines.sum())


def decorrelation(first: Tensor, second: Tensor) -> Decorrelation:
    """Returns how far the correlations C of the columns of two views are from the identity.

    Source: SCD eq. 2 (Barlow Twins), C = P^T Q / B. Shapes: [B, D] twice, every column of mean 0 and variance
    1 over the batch; three scalars, in fp32 or wider. C is not formed: the sum of all its C_ij^2 is that of
    (P P^T)_mn (Q Q^T)_mn / B^2, and the diagonal is taken off it, so the rest may be below 0 by rounding.
    """
    with torch.autocast(first.device.type, enabled=False):
        one, other = wide(first), wide(second)
        own = (one * other).mean(dim=0)
        every = (one @ one.T * (other @ other.T)).sum() / len(one) ** 2
    return Decorrelation((own - 1).square().sum(), every - own.square().sum(), own.mean())


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
    """Returns the weighted sum of self-contrast and decorrelation; its parts are the terms, unweighted.

    Source: SCD eq. 3. Shapes: first, second [B, d]; the projections [B, D], normalised over the batch.
    Gradients: flow to all four.
    """
    apart = self_contrast(first, second, scale=self_contrast_scale, reduction=self_contrast_reduction)
    terms = decorrelation(projected_first, projected_second)
    alike = terms.diagonal + off_diagonal_weight * terms.off_diagonal
    width = projected_first.shape[1]
    # fp32's root differs between vendors in portable arithmetic, float64's after rounding does not
    mean_square = terms.off_diagonal.clamp_min(0).double() / max(1, width * (width - 1))
    parts = {
        "self_contrast": apart,
        "decorrelation": alike,
        "diagonal_mean": terms.diagonal_mean,
        "off_diagonal_rms": mean_square.sqrt().to(terms.off_diagonal),
    }
    total = self_contrast_weight * apart + decorrelation_weight * alike
    return Loss(total, {name: part.detach() for name, part in parts.items()})
