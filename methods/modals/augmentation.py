"""Positives made from vectors, as pure functions.

Source: Cheung and Yeung, "MODALS: Modality-agnostic Automated Data Augmentation in the Latent Space", ICLR
2021, section 3.2; the jitter: Krizhevsky et al. 2012, section 4.1, applied to token embeddings.
Legend: B batch, N pool, L tokens, d width, C directions. The pool carries no gradient.
"""

from __future__ import annotations

import torch
from torch import Tensor

from methods.core.types import moved


def interpolation(vectors: Tensor, pool: Tensor, magnitude: float) -> Tensor:
    """Returns v + m (w - v), w the nearest other vector of the pool by Euclidean distance.

    Shapes: vectors [B, d], pool [B, d] with the vectors' own values in the same order; returns [B, d].
    Facts: m = 0 changes nothing, m = 1 gives the neighbour; a batch of one stays as it is.
    """
    distances = torch.cdist(pool, pool).fill_diagonal_(torch.inf)  # [B, B]
    return vectors + magnitude * (pool[distances.argmin(dim=1)] - vectors)


def extrapolation(vectors: Tensor, pool: Tensor, magnitude: float) -> Tensor:
    """Returns v + m (v - mean of the pool). Shapes: vectors [B, d], pool [N, d]; returns [B, d]."""
    return vectors + magnitude * (vectors - pool.mean(dim=0))


def linear_sampling(vectors: Tensor, pool: Tensor, magnitude: float) -> Tensor:
    """Returns v + m (a - b), a and b two different random vectors of the pool, drawn for every row.

    Shapes: vectors [B, d], pool [N, d]; returns [B, d]. A pool of one changes nothing.
    """
    first = torch.randint(len(pool), (len(vectors),), device=pool.device)
    step = torch.randint(1, max(len(pool), 2), (len(vectors),), device=pool.device)
    return vectors + magnitude * (pool[first] - pool[(first + step) % len(pool)])


def gaussian_noise(vectors: Tensor, pool: Tensor, magnitude: float) -> Tensor:
    """Returns v + m sd e, e standard normal and sd the deviation of each dimension over the pool.

    Shapes: vectors [B, d], pool [N, d]; returns [B, d]. The deviation divides by N: a pool of one has none.
    """
    return vectors + magnitude * pool.std(dim=0, correction=0) * torch.randn_like(vectors)


def jitter(embeddings: Tensor, mask: Tensor, *, magnitude: float, directions: int) -> Tensor:
    """Returns noise for every sentence along the principal directions of the batch's token embeddings.

    The sum of a_c l_c p_c over the C largest eigenvalues l_c of their covariance, a_c normal with standard
    deviation `magnitude` and drawn once a sentence: all its tokens are moved alike.
    Shapes: embeddings [B, L, d], mask [B, L] on the CPU, which counts it; returns [B, 1, d] without gradient.
    """
    with torch.no_grad(), torch.autocast(embeddings.device.type, enabled=False):
        real = moved(mask.flatten().nonzero().squeeze(1), embeddings.device)
        tokens = embeddings.flatten(0, 1)[real].float()  # [tokens, d]
        centred = tokens - tokens.mean(dim=0)
        values, vectors = torch.linalg.eigh(centred.T @ centred / len(tokens))  # ascending
        top = vectors[:, -directions:] * values[-directions:]  # [d, C]
        draws = magnitude * torch.randn(len(embeddings), top.shape[1], device=top.device)
        return (draws @ top.T)[:, None, :]


AUGMENTATIONS = {
    "interpolation": interpolation,
    "extrapolation": extrapolation,
    "linear-sampling": linear_sampling,
    "gaussian-noise": gaussian_noise,
}
