"""ConSERT (Yan et al. 2021), unsupervised; Legend: B batch, L tokens, d width."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from methods.consert import views
from methods.consert.config import ConSERTConfig, View
from methods.core.encoder import SentenceEncoder
from methods.core.losses import cosine_similarities
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.types import Batch, Encoder, Loss, Row


class ConSERT(Method):
    """Two views of a sentence, edited at the embedding layer, are each other's positives."""

    Config = ConSERTConfig
    config: ConSERTConfig

    def __init__(self, config: ConSERTConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        if config.dropout is not None:
            self.encoder = networks.new_encoder(
                hidden_dropout_prob=config.dropout, attention_probs_dropout_prob=config.dropout
            )
        self.exported_pooling = self.encoder.pooling
        self.encoder.pooling = config.training_pooling

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns `pair`, the tokens twice [2B, L], and where the views need them:

        `positions` [2B, L], and `factors` for the embedding layer, which broadcast to [2B, L, d].
        """
        ids = self.token_ids(rows)
        lengths = [len(row) for row in ids]
        batch: Batch = {"pair": self.encoder.pad([*ids, *ids])}
        chosen = (self.config.first_view, self.config.second_view)
        if "shuffle" in chosen:
            batch["positions"] = torch.cat([self._positions(view, lengths, rng) for view in chosen])
        if any(view not in ("none", "shuffle") for view in chosen):
            first, second = torch.broadcast_tensors(*(self._factors(view, lengths, rng) for view in chosen))
            batch["factors"] = torch.cat([first, second])
        return batch

    def loss(self, batch: Batch) -> Loss:
        """Returns the weighted sum of the two sides' contrast of B sentences."""
        contrast = two_sides(*self.vectors(batch), temperature=self.config.temperature)
        return Loss(self.config.contrast_weight * contrast, {"contrast": contrast.detach()})

    def vectors(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Returns the vectors of the two views, each [B, d], from one pass over 2B rows."""
        edits: dict[str, Tensor] = {}
        if "positions" in batch:
            edits["position_ids"] = batch["positions"]
        if "factors" in batch and self.config.cut_at == "word-embeddings":
            words = self.encoder.backbone.get_input_embeddings()(batch["pair"]["input_ids"])  # type: ignore[operator]
            edits["inputs_embeds"] = words * batch["factors"]  # [2B, L, d]
        elif "factors" in batch:
            edits["embedding_factors"] = batch["factors"]
        first, second = self.encoder(batch["pair"], **edits).chunk(2)
        return first, second

    def watched(self) -> Sequence[Encoder]:
        """Returns the encoder with the pooling of training, by whose dev score weights are selected."""
        return (self.encoder,)

    def exported(self) -> Encoder:
        """Returns the encoder with the run's own pooling: ConSERT reports the mean of the last two layers."""
        return SentenceEncoder(self.encoder.backbone, self.encoder.tokenizer, pooling=self.exported_pooling)

    def _positions(self, view: View, lengths: list[int], rng: np.random.Generator) -> Tensor:
        first = self.encoder.first_position
        if view != "shuffle":
            return views.plain_positions(len(lengths), max(lengths), first=first)
        first = 0 if self.config.positions == "from-zero" else first
        return views.shuffled_positions(lengths, first=first, rng=rng)

    def _factors(self, view: View, lengths: list[int], rng: np.random.Generator) -> Tensor:
        """Returns the factors of one view, which broadcast to [B, L, d]."""
        config, width = self.config, self.encoder.width
        if view == "token-cutoff":
            return views.token_cutoff(lengths, rate=config.token_rate, rng=rng)
        if view == "feature-cutoff":
            return views.feature_cutoff(len(lengths), width, rate=config.feature_rate, rng=rng)
        if view == "dropout":
            return views.element_cutoff(
                lengths, width, rate=config.element_rate, form=config.element_dropout, rng=rng
            )
        return torch.ones(len(lengths), 1, 1)


def one_side(anchors: Tensor, others: Tensor, *, temperature: float) -> Tensor:
    """Returns the mean cross-entropy of the anchors of one view: own other view against 2B - 1 vectors.

    Row i has the cosines with all B vectors of the other view, of which i is the positive, and with the B - 1
    other vectors of its own view, over the temperature.
    Shapes: anchors [B, d], others [B, d]; returns a scalar.
    Facts: log(2B - 1) when all vectors are equal; 0 for B = 1.
    """
    across = cosine_similarities(anchors, others)  # [B, B]
    within = cosine_similarities(anchors, anchors)
    itself = torch.eye(len(anchors), dtype=torch.bool, device=anchors.device)
    logits = torch.cat([across, within.masked_fill(itself, -torch.inf)], dim=1) / temperature  # [B, 2B]
    return functional.cross_entropy(logits, torch.arange(len(anchors), device=logits.device))


def two_sides(first: Tensor, second: Tensor, *, temperature: float) -> Tensor:
    """Returns the sum of `one_side` of both views: twice the mean over 2B anchors, which is NT-Xent.

    Source: the released code; the paper's equation is the mean.
    Shapes: first [B, d], second [B, d]; returns a scalar.
    """
    return one_side(first, second, temperature=temperature) + one_side(second, first, temperature=temperature)
