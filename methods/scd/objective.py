"""The terms of SCD's loss as pure functions. Legend: B sentences, d width, D width of the projections."""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from methods.core.losses import unit
from methods.core.types import Loss

Reduction = Literal["mean", "sum"]
"""How the cosines of a batch become one number."""


class Decorrelation(NamedTuple):
    """The two sums over a cross-correlation matrix C: of (C_ii - 1)^2, and of C_ij^2 off the diagonal."""

    diagonal: Tensor
    off_diagonal: Tensor


def self_contrast(first: Tensor, second: Tensor, *, scale: float, reduction: Reduction = "mean") -> Tensor:
    """Returns `scale` times the cosine of the two views of each sentence; minimised, so it drives them apart.

    Source: SCD eq. 1, where scale is 1; its code divides by a temperature. Shapes: [B, d]; a scalar.
    Facts: `scale` for equal views; its gradient is 0 there.
    """
    with torch.autocast(first.device.type, enabled=False):
        cosines = (unit(first) * unit(second)).sum(dim=-1)
    return scale * (cosines.mean() if reduction == "mean" else cosines.sum())


def cross_correlation(first: Tensor, second: Tensor) -> Tensor:
    """Returns the correlations of the columns of two views that have mean 0 and variance 1 over the batch.

    Source: SCD eq. 2 (Barlow Twins). Shapes: [B, D] twice to [D, D], in fp32 or wider.
    """
    with torch.autocast(first.device.type, enabled=False):
        one, other = (part if part.dtype == torch.float64 else part.float() for part in (first, second))
        return one.T @ other / len(one)


def decorrelation(correlation: Tensor) -> Decorrelation:
    """Returns how far the matrix is from the identity, on its diagonal and off it; both triangles count.

    Shapes: [D, D]; returns two scalars.
    """
    diagonal = correlation.diagonal()
    others = correlation - torch.diag(diagonal)
    return Decorrelation((diagonal - 1).square().sum(), others.square().sum())


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
    correlation = cross_correlation(projected_first, projected_second)
    terms = decorrelation(correlation)
    alike = terms.diagonal + off_diagonal_weight * terms.off_diagonal
    width = len(correlation)
    parts = {
        "self_contrast": apart,
        "decorrelation": alike,
        "diagonal_mean": correlation.diagonal().mean(),
        "off_diagonal_rms": (terms.off_diagonal / max(1, width * (width - 1))).sqrt(),
    }
    total = self_contrast_weight * apart + decorrelation_weight * alike
    return Loss(total, {name: part.detach() for name, part in parts.items()})
