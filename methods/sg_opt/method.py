"""SG-OPT (Kim et al. 2021); Legend: B batch, L tokens, K hidden states, d width, p width of the head."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.fast.linear import linear
from methods.core.heads import INITIAL_SD
from methods.core.method import Method
from methods.core.networks import Frozen, Networks
from methods.core.pooling import EVERY_LAYER
from methods.core.rows import Row
from methods.core.types import Batch, Loss, Tokens
from methods.sg_opt import objective
from methods.sg_opt.config import SGOptConfig


class SGOpt(Method):
    """Contrasts a tuned copy's vector with the layers of a frozen copy for the same sentence."""

    Config = SGOptConfig
    config: SGOptConfig

    def __init__(self, config: SGOptConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        means = LayerMeans(networks.new_encoder(), first=config.first_layer, last=config.last_layer)
        self.layer_count = means.count
        self.frozen = Frozen(means, dropout=config.frozen_dropout)
        if config.freeze_embeddings:
            backbone: Any = self.encoder.backbone
            backbone.embeddings.requires_grad_(False)  # words, positions, types and their norm
        self.head = WideHead(self.encoder.width, config.head_width)

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens `anchor` [B, L]; with back-translations [2B, L], sentences first.

        For objectives with a random layer, the index of the layer `layer` [B] is included.
        """
        batch = super().collate(rows, step=step, rng=rng)
        if self.config.draws_layers:
            batch["layer"] = torch.from_numpy(rng.integers(0, self.layer_count, size=len(rows)))
        return batch

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrast plus lambda times the distance of the tuned weights from the frozen ones."""
        contrast, distance = self.contrast(batch), self.distance()
        total = contrast + self.config.distance_weight * distance
        return Loss(total, {"contrast": contrast.detach(), "distance": distance.detach()})

    def contrast(self, batch: Batch) -> Tensor:
        """Returns the objective's contrast of one batch; a scalar."""
        config, temperature = self.config, self.config.temperature
        if config.objective == "back-translation":
            first, second = self.head(self.encoder(batch["anchor"])).chunk(2)
            return objective.symmetric_contrast(
                first, second, temperature=temperature, normaliser=config.normaliser
            )
        anchors = self.head(self.encoder(batch["anchor"]))  # [B, p]
        layers = self.frozen(batch["anchor"])  # [B, K, d]
        if config.objective == "sg-opt":
            return objective.layer_contrast(anchors, self.head(layers), temperature=temperature)
        drawn = self.head(layers[torch.arange(len(layers), device=layers.device), batch["layer"]])  # [B, p]
        if config.objective == "opt2":
            return objective.drawn_layer_contrast(
                anchors, drawn, temperature=temperature, negatives=config.opt2_negatives
            )
        if config.objective == "opt1":
            return objective.anchored_contrast(anchors, drawn, temperature=temperature)
        return objective.symmetric_contrast(
            anchors, drawn, temperature=temperature, normaliser=config.normaliser
        )

    def distance(self) -> Tensor:
        """Returns the squared distance of the tuned weights from the frozen ones; a scalar."""
        start = self.frozen.module.to(self.encoder.device).parameters()
        pairs = [pair for pair in zip(self.encoder.parameters(), start, strict=True) if pair[0].requires_grad]
        return objective.weight_distance(*zip(*pairs, strict=True))


class LayerMeans(nn.Module):
    """The mean over tokens of every hidden state from `first` up to but without `last`; [B, K, d].

    Hidden state 0 is the embedding layer's. Special tokens count, padding does not. With `last` None all
    states are read; `count` is K. The encoder's pooling is changed, so it must have no other use.

    Errors: InputError if `last` exceeds the number of hidden states.
    """

    def __init__(self, encoder: SentenceEncoder, *, first: int, last: int | None) -> None:
        super().__init__()
        self.encoder = encoder
        self.encoder.pooling = EVERY_LAYER
        self.first, self.last = first, last
        available = int(encoder.backbone.config.num_hidden_layers) + 1  # type: ignore[union-attr, arg-type]
        if last is not None and last > available:
            raise InputError(
                f"layers {first} to {last} of a backbone with {available} hidden states; use null for all"
            )
        self.count = len(range(available)[first:last])

    def forward(self, tokens: Tokens) -> Tensor:
        return self.encoder(tokens)[:, self.first : self.last]


class WideHead(nn.Sequential):
    """Two layers of equal width, each followed by the exact GELU: [..., d] to [..., p].

    Source: the projector of SG-OPT's released code; weights initialised as in BERT, biases zero.
    """

    def __init__(self, width: int, wide: int) -> None:
        first, second = nn.Linear(width, wide), nn.Linear(wide, wide)
        for layer in (first, second):
            nn.init.normal_(layer.weight, std=INITIAL_SD)
            nn.init.zeros_(layer.bias)
        super().__init__(first, nn.GELU(), second, nn.GELU())

    def forward(self, pooled: Tensor) -> Tensor:
        layer: Any
        rows = pooled.flatten(0, -2)
        for layer in self:
            rows = linear(layer, rows) if isinstance(layer, nn.Linear) else layer(rows)
        return rows.unflatten(0, pooled.shape[:-1])
