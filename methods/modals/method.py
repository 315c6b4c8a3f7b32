"""Contrast against positives made from vectors instead of texts; Legend: B batch, L tokens, d width."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from methods.core.heads import training_head
from methods.core.losses import nt_xent
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.types import Batch, Loss, mask_on_host
from methods.modals.augmentation import AUGMENTATIONS, jitter
from methods.modals.config import ModalsConfig


class Modals(Method):
    """Anchor and positive are two passes of one text; the second is moved in a space of vectors."""

    Config = ModalsConfig
    config: ModalsConfig

    def __init__(self, config: ModalsConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        self.head = training_head(config.head, self.encoder.width)

    def loss(self, batch: Batch) -> Loss:
        """Returns the symmetric contrastive loss of B sentences and logs how far positives were moved."""
        anchors, positives, moved = self.vectors(batch)
        total = nt_xent(anchors, positives, temperature=self.config.temperature)
        return Loss(total, {"moved": moved.detach()})

    def vectors(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Returns anchors and positives after the head, each [B, d], and how far positives were moved."""
        twice = {name: torch.cat([ids, ids]) for name, ids in batch["anchor"].items()}  # [2B, L]
        if self.config.positive == "pca-jittering":
            return self._jittered(twice)
        first, second = self.encoder(twice).float().chunk(2)
        move = AUGMENTATIONS[self.config.positive]
        positive = move(second, second.detach(), self.config.magnitude)
        return self.head(first), self.head(positive), relative_length(positive - second, second)

    def _jittered(self, twice: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Moves the token embeddings of the second half before the encoder reads them."""
        backbone: Any = self.encoder.backbone
        embedded = backbone.get_input_embeddings()(twice["input_ids"])  # [2B, L, d]
        first, second = embedded.chunk(2)
        mask = mask_on_host(twice)
        assert mask is not None  # what `pad` makes has one
        noise = jitter(
            second,
            mask[len(first) :],
            magnitude=self.config.magnitude,
            directions=self.config.directions or 0,
        )
        pooled = self.encoder(twice, inputs_embeds=torch.cat([first, second + noise.to(second.dtype)]))
        anchors, positives = self.head(pooled).chunk(2)
        return anchors, positives, relative_length(noise, second)


def relative_length(moves: Tensor, vectors: Tensor) -> Tensor:
    """Returns the mean length of the moves over the mean length of the vectors; a scalar."""
    return moves.norm(dim=-1).mean() / vectors.norm(dim=-1).mean()
