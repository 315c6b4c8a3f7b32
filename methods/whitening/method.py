"""Whitening (Su et al. 2021) and plain centring of sentence vectors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from methods.core.errors import InputError
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.types import Row
from methods.whitening.config import WhiteningConfig
from methods.whitening.objective import fit


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
        layer = self.encoder.output
        assert layer is not None
        self.encoder.output = None
        vectors = self.encoder.encode(texts, progress=True)
        self.encoder.output = layer
        mean, weight = fit(vectors, dim=layer.out_features, whiten=self.config.transform == "whiten")
        layer.weight.data = torch.from_numpy(weight.T.copy()).float()
        layer.bias.data = torch.from_numpy(-mean @ weight).float()
        return rows
