"""SimCSE (Gao et al. 2021), unsupervised; Legend: B batch, L tokens, d width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from methods.core.corpus import TokenizedCorpus, rows_of_view
from methods.core.heads import TanhHead
from methods.core.interface import Batch, Loss, Method, MethodConfig, Row
from methods.core.losses import info_nce, nt_xent
from methods.core.parents import EncoderFactory

OBJECTIVES = {"info-nce": info_nce, "nt-xent": nt_xent}


class SimCSEConfig(MethodConfig):
    """Settings of one SimCSE run."""

    temperature: float = Field(gt=0, description="tau, divides the cosine")
    objective: Literal["info-nce", "nt-xent"] = Field(description="one-sided, or symmetric as in UNA's rows")
    positive: Literal["dropout", "paraphrase"] = Field(
        description="the same text under another dropout mask, or its first paraphrase in the corpus"
    )
    head: Literal["mlp", "none"] = Field(description="dense layer with tanh during training; never exported")
    dropout: float | None = Field(
        ge=0, lt=1, description="hidden and attention dropout; null: the backbone's"
    )


class SimCSE(Method):
    """Two passes of one batch through the encoder in training mode are each other's positives."""

    Config = SimCSEConfig
    config: SimCSEConfig
    paraphrases: TokenizedCorpus | None = None

    def __init__(self, config: SimCSEConfig, new_encoder: EncoderFactory) -> None:
        super().__init__(config, new_encoder)
        if config.dropout is not None:
            set_dropout(self.encoder, config.dropout)
        self.head = TanhHead(self.encoder.width) if config.head == "mlp" else nn.Identity()

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Tokenises the texts and, where they are the positives, the first paraphrases."""
        if self.config.positive == "paraphrase":
            views = rows_of_view(rows, 1)
            self.paraphrases = TokenizedCorpus(self.encoder, views, max_length=self.config.max_length)
        return super().prepare(rows)

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns `anchor` [B, L]; with paraphrases `pair` [2B, L], texts before paraphrases."""
        if self.paraphrases is None:
            return super().collate(rows, step=step, rng=rng)
        positives = [self.paraphrases.ids(row) for row in rows]
        return {"pair": self.encoder.pad([*self.token_ids(rows), *positives])}

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrastive loss of B sentences against each other."""
        first, second = self.views(batch)
        objective = OBJECTIVES[self.config.objective]
        return Loss(objective(first, second, temperature=self.config.temperature), {})

    def views(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Returns the two views after the head, each [B, d], from one pass over 2B rows."""
        if "pair" in batch:
            tokens = batch["pair"]  # [2B, L]
        else:
            tokens = {name: torch.cat([ids, ids]) for name, ids in batch["anchor"].items()}  # [2B, L]
        first, second = self.head(self.encoder(tokens)).chunk(2)
        return first, second


def set_dropout(module: nn.Module, rate: float) -> None:
    """Sets the rate of every dropout layer of `module`."""
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = rate
