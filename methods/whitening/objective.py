"""The affine map that centres vectors, or gives them unit covariance, in closed form; N vectors, d width."""

from __future__ import annotations

import numpy as np

from methods.core.errors import InputError

RELATIVE_FLOOR = 1e-6
"""Directions with less than this share of the largest variance are rounding error and get weight 0."""


def fit(vectors: np.ndarray, *, dim: int, whiten: bool) -> tuple[np.ndarray, np.ndarray]:
    """Returns mean and weight such that (x - mean) @ weight is centred, or has unit covariance.

    Source: Su et al. 2021, eq. 6 and 7: weight = U / sqrt(eigenvalues), largest variance first.
    Shapes: vectors [N, d]; returns [d] and [d, dim] in float64.
    Errors: InputError for fewer than two vectors.
    """
    if len(vectors) < 2:
        raise InputError(f"{len(vectors)} sentences, whitening expects at least 2; take a larger corpus")
    wide = vectors.astype(np.float64)
    mean = wide.mean(axis=0)
    if not whiten:
        return mean, np.eye(wide.shape[1])[:, :dim]
    values, directions = np.linalg.eigh(np.cov(wide, rowvar=False, bias=True))
    values, directions = values[::-1][:dim], directions[:, ::-1][:, :dim]
    safe = values > RELATIVE_FLOOR * values[0]
    scale = np.where(safe, 1.0 / np.sqrt(np.where(safe, values, 1.0)), 0.0)
    return mean, directions * scale
