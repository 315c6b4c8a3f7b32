"""Whitening (Su et al. 2021) and plain centring of sentence vectors."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from methods.core.errors import InputError
from methods.core.heads import without_output
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.rows import Row
from methods.whitening.config import WhiteningConfig

RELATIVE_FLOOR = 1e-6
"""Directions with less than this share of the largest variance are rounding error and get weight 0."""


class Whitening(Method):
    """An affine layer fitted to the corpus in closed form and exported with the encoder; zero steps."""

    Config = WhiteningConfig
    config: WhiteningConfig
    word_vectors = "accepted"

    def __init__(self, config: WhiteningConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        width = self.encoder.width
        if config.dim is not None and config.dim > width:
            raise InputError(f"dim {config.dim} with an encoder of width {width}; expected at most the width")
        self.encoder.output = nn.Linear(width, config.dim or width).requires_grad_(False)

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Fills the output layer from the vectors of the first sentences of the corpus."""
        texts = [row.text for row in rows[: self.config.sentences]]
        with without_output(self.encoder) as layer:
            vectors = self.encoder.encode(texts, progress=True)
        mean, weight = fit(vectors, dim=layer.out_features, whiten=self.config.transform == "whiten")
        layer.weight.data = torch.from_numpy(weight.T.copy()).float()
        layer.bias.data = torch.from_numpy(-mean @ weight).float()
        return rows


def fit(vectors: np.ndarray, *, dim: int, whiten: bool) -> tuple[np.ndarray, np.ndarray]:
    """Returns mean and weight; (x - mean) @ weight is centred and optionally has unit covariance.

    Source: Su et al. 2021, eq. 6 and 7: weight = U / sqrt(eigenvalues), largest variance first.
    Shapes: vectors [N, d]; returns [d] and [d, dim] in float64.
    Errors: InputError for fewer than two vectors.
    """
    if len(vectors) < 2:
        raise InputError(f"{len(vectors)} sentences; whitening needs at least 2")
    wide = vectors.astype(np.float64)
    mean = wide.mean(axis=0)
    if not whiten:
        return mean, np.eye(wide.shape[1])[:, :dim]
    values, directions = np.linalg.eigh(np.cov(wide, rowvar=False, bias=True))
    values, directions = values[::-1][:dim], directions[:, ::-1][:, :dim]
    safe = values > RELATIVE_FLOOR * values[0]
    scale = np.where(safe, 1.0 / np.sqrt(np.where(safe, values, 1.0)), 0.0)
    return mean, directions * scale
