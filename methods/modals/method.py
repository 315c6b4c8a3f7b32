"""Contrast against positives made from vectors instead of texts; Legend: B batch, L tokens, d width."""

from __future__ import annotations

from typing import Any, Literal, Self

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from methods.core.heads import TanhHead
from methods.core.interface import Batch, Loss, Method, MethodConfig
from methods.core.losses import nt_xent
from methods.core.parents import EncoderFactory
from methods.modals.augmentation import AUGMENTATIONS, jitter


class ModalsConfig(MethodConfig):
    """Settings of one run."""

    temperature: float = Field(gt=0, description="tau, divides the cosine")
    head: Literal["mlp", "none"] = Field(description="dense layer with tanh during training; never exported")
    positive: Literal[
        "interpolation", "extrapolation", "linear-sampling", "gaussian-noise", "pca-jittering"
    ] = Field(description="what is done to the second pass' vectors, or to its token embeddings")
    magnitude: float = Field(ge=0, description="m, how far the positive is moved; 0: SimCSE with NT-Xent")
    directions: int | None = Field(ge=1, description="principal directions of the jitter; else null")

    @model_validator(mode="after")
    def _directions_belong_to_the_jitter(self) -> Self:
        if (self.positive == "pca-jittering") != (self.directions is not None):
            raise ValueError("directions go with positive: pca-jittering, expected both or null; mend one")
        return self


class Modals(Method):
    """Anchor and positive are two passes of one text; the second is moved in a space of vectors."""

    Config = ModalsConfig
    config: ModalsConfig

    def __init__(self, config: ModalsConfig, new_encoder: EncoderFactory) -> None:
        super().__init__(config, new_encoder)
        self.head = TanhHead(self.encoder.width) if config.head == "mlp" else nn.Identity()

    def loss(self, batch: Batch) -> Loss:
        """Returns the symmetric contrastive loss of B sentences and logs how far positives were moved."""
        anchors, positives, moved = self.views(batch)
        total = nt_xent(anchors, positives, temperature=self.config.temperature)
        return Loss(total, {"moved": moved.detach()})

    def views(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
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
        noise = jitter(
            second,
            twice["attention_mask"].chunk(2)[1],
            magnitude=self.config.magnitude,
            directions=self.config.directions or 0,
        )
        pooled = self.encoder(twice, inputs_embeds=torch.cat([first, second + noise.to(second.dtype)]))
        anchors, positives = self.head(pooled).chunk(2)
        return anchors, positives, relative_length(noise, second)


def relative_length(moves: Tensor, vectors: Tensor) -> Tensor:
    """Returns the mean length of the moves over the mean length of the vectors; a scalar."""
    return moves.norm(dim=-1).mean() / vectors.norm(dim=-1).mean()
