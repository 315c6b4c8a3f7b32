"""Noise negatives: Gaussian vectors moved up the non-uniformity loss; Legend: B batch, M noise, d width."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from methods.core.losses import unit

Denominator = Literal["all", "noise-only"]


def noise_count(ratio: float, batch_size: int) -> int:
    """Returns M, the number of noise negatives of a batch; fractions are cut off."""
    return int(ratio * batch_size)


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
    the temperature; `denominator` says which columns the sum has: those of the noise as eq. 2 prints it, or
    the positives too as the released code has it. Its gradient has a closed form: with n the unit noise and
    v_m the sum over anchors of softmax(A)_im z_i, noise m moves along v_m - (v_m . n_m) n_m.
    Shapes: noise [M, d], anchors [B, d], positives [B, d]; returns [M, d], fp32 or wider.
    Gradients: none; anchors and positives are constants here, and so is the result for the student.
    Facts: the squared norm grows by exactly steps * step_size^2; positive scales of any argument, the mean
    over anchors and the temperature outside the softmax cancel in the normalisation.
    A row whose gradient is zero becomes zero, as in the released code.
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
    """Returns the unit gradient of every noise vector [M, d]; a row of nan where the gradient is zero."""
    along = unit(noise)
    columns = torch.cat([fixed, anchors @ along.T / temperature], dim=1)  # [B, B+M]
    shares = columns.log_softmax(dim=1)[:, fixed.shape[1] :]  # [B, M]
    shares = (shares - shares.amax(dim=0)).exp()  # a factor per noise vector cancels; none can underflow
    pull = shares.T @ anchors  # [M, d]
    tangent = pull - (pull * along).sum(dim=1, keepdim=True) * along
    return tangent / tangent.norm(dim=1, keepdim=True)
