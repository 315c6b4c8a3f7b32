"""The terms of DiffCSE's loss as pure functions.

Legend: B sentences, R rewritten sentences (2B or B), L positions, d width.
"""

from typing import Literal

from torch import Tensor
from torch.nn import functional

from methods.core.losses import info_nce, wide
from methods.core.types import Loss

CountedPositions = Literal["all", "real"]
"""Positions averaged by the detection loss: all of a padded batch, or only tokens."""


def replaced(rewritten: Tensor, original: Tensor, mask: Tensor) -> Tensor:
    """Returns the labels of detection: whether a token differs from the original; False on padding.

    Shapes: all [R, L]; returns bool.
    """
    return (rewritten != original) & mask.bool()


def replaced_token_detection(logits: Tensor, labels: Tensor, counted: Tensor | None = None) -> Tensor:
    """Returns the mean cross-entropy of classifying tokens as replaced (1) or original (0).

    Source: DiffCSE eq. 2 and its code, whose mean includes all positions (`counted` None): it is divided by R
    L, so additional padding changes it.
    Shapes: logits [R, L, 2], labels and counted [R, L] of 0 and 1; returns a scalar in nats, fp32 or wider.
    Facts: log 2 if both logits are equal everywhere.
    """
    each = wide(logits).flatten(0, 1)  # [R L, 2]
    losses = functional.cross_entropy(each, labels.flatten().long(), reduction="none")
    if counted is None:
        return losses.mean()
    weights = counted.flatten().to(losses.dtype)
    return (losses * weights).sum() / weights.sum()


def diffcse_loss(
    first: Tensor,
    second: Tensor,
    logits: Tensor,
    labels: Tensor,
    mask: Tensor,
    *,
    temperature: float,
    weight: float,
    positions: CountedPositions,
) -> Loss:
    """Returns contrast plus `weight` times detection; its parts are the unweighted terms and an accuracy.

    Source: DiffCSE eq. 3, whose contrast, eq. 1, is SimCSE's.
    Shapes: first, second [B, d]; logits [R, L, 2]; labels, mask [R, L].
    Parts: `detection_all` and `detection_real` are the mean over all and over real positions.
    """
    agreement = info_nce(first, second, temperature=temperature)
    terms = {
        "all": replaced_token_detection(logits, labels),
        "real": replaced_token_detection(logits, labels, mask),
    }
    right = (logits.argmax(dim=-1) == labels) & mask.bool()
    parts = {
        "contrast": agreement,
        "detection_all": terms["all"],
        "detection_real": terms["real"],
        "accuracy": right.sum() / mask.sum(),
    }
    return Loss(agreement + weight * terms[positions], {name: part.detach() for name, part in parts.items()})
