"""The likelihood of vectors under a flow to the normal distribution; Legend: B vectors, d their width."""

from __future__ import annotations

import math

from torch import Tensor


def log_normal(latent: Tensor) -> Tensor:
    """Returns the log-density of each vector under N(0, I), in nats; [B, d] to [B]."""
    return -0.5 * (latent.square() + math.log(2.0 * math.pi)).sum(dim=-1)


def bits_per_dimension(latent: Tensor, log_determinant: Tensor) -> Tensor:
    """Returns -(log N(z; 0, I) + log |det dz/du|) / (d ln 2) of each vector; [B].

    Source: BERT-flow's eq. 3 in the unit of its released code.
    Shapes: latent [B, d], log_determinant a scalar or [B].
    Facts: 0.5 log2(2 pi e) = 2.04710 in expectation for z normal and a determinant of 1.
    """
    return -(log_normal(latent) + log_determinant) / (latent.shape[-1] * math.log(2.0))
