"""Instance weights and the weighted losses of DCLR; Legend: B batch, M noise, Z logits [B, B+M].

Column i of row i is the positive, the other B - 1 first columns are in-batch negatives, the rest is noise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

Comparison = Literal["above", "at-or-above"]
MaskedPair = Literal["zero-logit", "excluded"]


def false_negatives(scores: Tensor, *, threshold: float, comparison: Comparison) -> Tensor:
    """Returns which pairs have weight 0: off the diagonal, scored above (or at) the threshold.

    Source: DCLR eq. 5, which masks at the threshold too; the released code masks only above it.
    Shapes: scores [B, B] are cosines, clamped to [-1, 1] here; returns [B, B] bool.
    Gradients: none. Facts: none at threshold 1 with `above`; all off the diagonal below -1.
    """
    cosines = scores.detach().clamp(-1.0, 1.0)
    similar = cosines > threshold if comparison == "above" else cosines >= threshold
    return similar & ~torch.eye(len(scores), dtype=torch.bool, device=scores.device)


def weighted_logits(
    similarities: Tensor, masked: Tensor | None, *, temperature: float, masked_pair: MaskedPair
) -> Tensor:
    """Returns the logits in which a masked pair has weight 0.

    `excluded` takes the pair's term out of the denominator (DCLR eq. 6); `zero-logit` multiplies its logit
    by 0 as the released code does, so that the pair still counts as e^0 = 1.
    Shapes: similarities [B, B+M], masked [B, B] bool or None; returns [B, B+M].
    Gradients: exactly zero for the similarity of a masked pair.
    """
    logits = similarities / temperature
    if masked is None:
        return logits
    columns = functional.pad(masked, (0, logits.shape[1] - masked.shape[1]))  # noise is never masked
    return logits.masked_fill(columns, 0.0 if masked_pair == "zero-logit" else -torch.inf)


def cross_entropy(logits: Tensor) -> Tensor:
    """Returns the mean over rows of -log p_ii, p the softmax of a row; DCLR eq. 6 with the positive kept.

    Shapes: logits [B, B+M]; returns a scalar in nats. Facts: 0 for a single column.
    """
    return functional.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


def cross_entropy_without_positive(logits: Tensor) -> Tensor:
    """Returns DCLR eq. 6 to the letter: the positive is missing from the denominator.

    Shapes: logits [B, B+M] with at least one finite negative a row; returns a scalar, unbounded below.
    """
    negatives = logits.masked_fill(_diagonal(logits), -torch.inf)
    return (negatives.logsumexp(dim=1) - logits.diagonal()).mean()


def binary_cross_entropy(logits: Tensor) -> Tensor:
    """Returns the binary cross-entropy of softmax entries, averaged over all B(B+M) of them.

    Source: the released code; every entry of the softmax p is a prediction, the positives' target is 1:
    -(log p_ii + sum over other columns c of log(1 - p_ic)), summed over rows, divided by B(B+M).
    Shapes: logits [B, B+M]; returns a scalar of the dtype of the logits, computed in fp64.
    Facts: twice the cross-entropy over the columns where there are two; 0 for a single column; finite where
    a probability rounds to 1, which the direct form turns into nan.
    """
    wide = logits.double()
    total = wide.logsumexp(dim=1, keepdim=True)  # [B, 1]
    hits = wide.diagonal() - total.squeeze(1)
    if logits.shape[1] == 1:
        return -hits.sum().to(logits.dtype)
    negatives = wide.masked_fill(_diagonal(logits), -torch.inf)
    shares = (negatives - total).exp()
    # Only the strongest negative can have a share above 1/2: there 1 - p is summed from the other columns.
    strongest = negatives.argmax(dim=1, keepdim=True)
    misses = torch.log1p(-shares.scatter(1, strongest, 0.0)).sum(dim=1)
    misses = misses + (wide.scatter(1, strongest, -torch.inf).logsumexp(dim=1, keepdim=True) - total).squeeze(
        1
    )
    return -((hits + misses).sum() / logits.numel()).to(logits.dtype)


def distillation(similarities: Tensor, scores: Tensor, *, temperature: float) -> Tensor:
    """Returns the mean over rows of KL(softmax(scores) || softmax(similarities)), both over the temperature.

    Source: none; the paper names the variant without a formula. Shapes: both [B, B]; returns nats.
    Gradients: flow to `similarities` only.
    """
    student = (similarities / temperature).log_softmax(dim=1)
    teacher = (scores.detach() / temperature).log_softmax(dim=1)
    return functional.kl_div(student, teacher, log_target=True, reduction="batchmean")


def noise_share(logits: Tensor) -> Tensor:
    """Returns the noise's share of the summed exponentials of all negatives, mean over rows, detached.

    Shapes: logits [B, B+M]; returns a scalar between 0 and 1; a row without negatives counts 0.
    """
    negatives = logits.detach().masked_fill(_diagonal(logits), -torch.inf)
    return negatives.softmax(dim=1)[:, len(logits) :].nan_to_num(0.0).sum(dim=1).mean()


OBJECTIVES: dict[str, Callable[[Tensor], Tensor]] = {
    "binary-cross-entropy": binary_cross_entropy,
    "cross-entropy": cross_entropy,
    "cross-entropy-without-positive": cross_entropy_without_positive,
}
"""Name of an objective -> the loss of the logits [B, B+M]."""


def _diagonal(logits: Tensor) -> Tensor:
    return torch.eye(*logits.shape, dtype=torch.bool, device=logits.device)
