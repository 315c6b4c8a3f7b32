"""Instance weights, weighted losses and noise negatives of DCLR.

Legend: B batch, M noise, d width, logits [B, B+M]. Column i of row i is the positive, the other B - 1 first
columns are in-batch negatives, the rest is noise.
"""

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from methods.core.losses import unit

Comparison = Literal["above", "at-or-above"]
MaskedPair = Literal["zero-logit", "excluded"]
Denominator = Literal["all", "noise-only"]


def false_negatives(scores: Tensor, *, threshold: float, comparison: Comparison) -> Tensor:
    """Returns the mask of pairs with weight 0: off the diagonal, with a score above (or at) the threshold.

    Source: DCLR eq. 5, which also masks at the threshold; the released code masks only above it.
    Shapes: scores [B, B] are cosines, clamped to [-1, 1] here; returns [B, B] bool.
    Gradients: none.
    Facts: none at threshold 1 with `above`; all off the diagonal below -1.
    """
    cosines = scores.detach().clamp(-1.0, 1.0)
    similar = cosines > threshold if comparison == "above" else cosines >= threshold
    return similar & ~torch.eye(len(scores), dtype=torch.bool, device=scores.device)


def weighted_logits(
    similarities: Tensor, masked: Tensor | None, *, temperature: float, masked_pair: MaskedPair
) -> Tensor:
    """Returns the logits, with weight 0 for masked pairs.

    `excluded` removes the pair's term from the denominator (DCLR eq. 6); `zero-logit` multiplies its logit by
    0 as in the released code, so the pair still counts as e^0 = 1.
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
    """Returns DCLR eq. 6 as printed, without the positive in the denominator.

    Shapes: logits [B, B+M] with at least one finite negative per row; returns a scalar, unbounded below.
    """
    negatives = logits.masked_fill(_diagonal(logits), -torch.inf)
    return (negatives.logsumexp(dim=1) - logits.diagonal()).mean()


def binary_cross_entropy(logits: Tensor) -> Tensor:
    """Returns the binary cross-entropy of softmax entries, averaged over all B(B+M) of them.

    Source: the released code; every entry of the softmax p is a prediction, the positives' target is 1: -(log
    p_ii + sum over other columns c of log(1 - p_ic)), summed over rows, divided by B(B+M).
    Shapes: logits [B, B+M]; returns a scalar of the dtype of the logits, computed in fp64.
    Facts: the cross-entropy for two columns; 0 for a single column; finite if a probability rounds to 1,
    for which the direct form gives nan.
    """
    wide = logits.double()
    total = wide.logsumexp(dim=1, keepdim=True)  # [B, 1]
    hits = wide.diagonal() - total.squeeze(1)
    if logits.shape[1] == 1:
        return -hits.sum().to(logits.dtype)
    negatives = wide.masked_fill(_diagonal(logits), -torch.inf)
    shares = (negatives - total).exp()
    # Only the strongest negative can have a share above 1/2: its 1 - p is summed over the other columns.
    strongest = negatives.argmax(dim=1, keepdim=True)
    misses = torch.log1p(-shares.scatter(1, strongest, 0.0)).sum(dim=1)
    misses = misses + (wide.scatter(1, strongest, -torch.inf).logsumexp(dim=1, keepdim=True) - total).squeeze(
        1
    )
    return -((hits + misses).sum() / logits.numel()).to(logits.dtype)


def distillation(similarities: Tensor, scores: Tensor, *, temperature: float) -> Tensor:
    """Returns the mean over rows of KL(softmax(scores) || softmax(similarities)), both over the temperature.

    Source: our choice; the paper names the variant without a formula.
    Shapes: both [B, B]; returns nats.
    Gradients: flow to `similarities` only.
    """
    student = (similarities / temperature).log_softmax(dim=1)
    teacher = (scores.detach() / temperature).log_softmax(dim=1)
    return functional.kl_div(student, teacher, log_target=True, reduction="batchmean")


def noise_share(logits: Tensor) -> Tensor:
    """Returns the noise's share of the summed exponentials of all negatives, averaged over rows, detached.

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


@torch.no_grad()
def ascend(
    noise: Tensor,
    anchors: Tensor,
    positives: Tensor,
    *,
    temperature: float,
    steps: int,
    step_size: float,
    denominator: Denominator,
) -> Tensor:
    """Returns the noise after `steps` ascent steps of length `step_size` each.

    Source: DCLR eq. 2 to 4. The loss is the mean over anchors of -A_ii + logsumexp(A_i), A the cosines over
    the temperature; `denominator` selects the columns of the sum: only the noise as in eq. 2, or also the
    positives as in the released code. Its gradient has a closed form: with n the unit noise and v_m the sum
    over anchors of softmax(A)_im z_i, noise m moves along v_m - (v_m . n_m) n_m.
    Shapes: noise [M, d], anchors [B, d], positives [B, d]; returns [M, d], fp32 or wider.
    Gradients: none; anchors, positives and the result are constants.
    Facts: the squared norm grows by exactly steps * step_size^2; positive factors of any argument, the mean
    over anchors and the temperature outside the softmax cancel. A row whose gradient is zero becomes zero, as
    in the released code.
    """
    with torch.autocast(noise.device.type, enabled=False):
        anchors, positives = unit(anchors), unit(positives)
        fixed = anchors @ positives.T / temperature  # [B, B]
        if denominator == "noise-only":
            fixed = fixed[:, :0]
        for _ in range(steps):
            moved = noise + step_size * _direction(noise, anchors, fixed, temperature)
            noise = moved.masked_fill(moved.isnan(), 0.0)
    return noise


def _direction(noise: Tensor, anchors: Tensor, fixed: Tensor, temperature: float) -> Tensor:
    """Returns the unit gradient of every noise vector [M, d]; a row of nan if the gradient is zero."""
    along = unit(noise)
    columns = torch.cat([fixed, anchors @ along.T / temperature], dim=1)  # [B, B+M]
    shares = columns.log_softmax(dim=1)[:, fixed.shape[1] :]  # [B, M]
    shares = (shares - shares.amax(dim=0)).exp()  # a factor per noise vector cancels; none can underflow
    pull = shares.T @ anchors  # [M, d]
    tangent = pull - (pull * along).sum(dim=1, keepdim=True) * along
    return tangent / tangent.norm(dim=1, keepdim=True)
