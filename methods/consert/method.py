"""ConSERT (Yan et al. 2021), unsupervised.

Legend: B batch, L tokens, d width; n is a sentence's number of tokens, special tokens included. Zeroed counts
are rounded down, as in the released code; DCLR's cutoffs round differently.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from methods.consert.config import ConSERTConfig, ElementForm, View
from methods.core.dropout import set_dropout
from methods.core.encoder import SentenceEncoder
from methods.core.losses import cosine_similarities
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.rows import Row
from methods.core.types import Batch, Encoder, Loss


class ConSERT(Method):
    """Contrasts two views of a sentence that are augmented at the embedding layer."""

    Config = ConSERTConfig
    config: ConSERTConfig

    def __init__(self, config: ConSERTConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        if config.dropout is not None:
            set_dropout(self.encoder, config.dropout)
            stated: Any = self.encoder.backbone.config  # exported
            stated.hidden_dropout_prob = stated.attention_probs_dropout_prob = config.dropout
        self.exported_pooling = self.encoder.pooling
        self.encoder.pooling = config.training_pooling

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns `pair`, the tokens twice [2B, L], and, if the views need them:

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
        """Returns the encoder with the pooling of training, whose dev score selects the weights."""
        return (self.encoder,)

    def exported(self) -> Encoder:
        """Returns the encoder with the run's pooling: ConSERT reports the mean of the last two layers."""
        return SentenceEncoder(self.encoder.backbone, self.encoder.tokenizer, pooling=self.exported_pooling)

    def _positions(self, view: View, lengths: list[int], rng: np.random.Generator) -> Tensor:
        first = self.encoder.first_position
        if view != "shuffle":
            return plain_positions(len(lengths), max(lengths), first=first)
        first = 0 if self.config.positions == "from-zero" else first
        return shuffled_positions(lengths, first=first, rng=rng)

    def _factors(self, view: View, lengths: list[int], rng: np.random.Generator) -> Tensor:
        """Returns the factors of one view, which broadcast to [B, L, d]."""
        config, width = self.config, self.encoder.width
        if view == "token-cutoff":
            return token_cutoff(lengths, rate=config.token_rate, rng=rng)
        if view == "feature-cutoff":
            return feature_cutoff(len(lengths), width, rate=config.feature_rate, rng=rng)
        if view == "dropout":
            return element_cutoff(
                lengths, width, rate=config.element_rate, form=config.element_dropout, rng=rng
            )
        return torch.ones(len(lengths), 1, 1)


def shuffled_positions(lengths: Sequence[int], *, first: int, rng: np.random.Generator) -> Tensor:
    """Returns position ids [B, L] from `first` on, with the real tokens in random order."""
    positions = plain_positions(len(lengths), max(lengths), first=first)
    for row, length in enumerate(lengths):
        positions[row, :length] = torch.from_numpy(rng.permutation(length)) + first
    return positions


def plain_positions(rows: int, columns: int, *, first: int) -> Tensor:
    """Returns position ids [B, L] in order, from `first` on."""
    return (torch.arange(columns) + first).repeat(rows, 1)


def token_cutoff(lengths: Sequence[int], *, rate: float, rng: np.random.Generator) -> Tensor:
    """Returns factors [B, L, 1], 0 for int(n rate) distinct tokens of each sentence."""
    factors = torch.ones(len(lengths), max(lengths), 1)
    for row, length in enumerate(lengths):
        factors[row, rng.permutation(length)[: int(length * rate)]] = 0.0
    return factors


def feature_cutoff(rows: int, width: int, *, rate: float, rng: np.random.Generator) -> Tensor:
    """Returns factors [B, 1, d], 0 for int(d rate) distinct features, drawn per sentence."""
    factors = torch.ones(rows, 1, width)
    for row in range(rows):
        factors[row, 0, rng.permutation(width)[: int(width * rate)]] = 0.0
    return factors


def element_cutoff(
    lengths: Sequence[int], width: int, *, rate: float, form: ElementForm, rng: np.random.Generator
) -> Tensor:
    """Returns factors [B, L, d] for the numbers of each sentence's real tokens.

    `exact-count` zeroes int(n d rate) distinct numbers without rescaling; `bernoulli` is dropout: each number
    is zeroed with probability `rate`, the others are divided by 1 - rate.
    """
    factors = torch.ones(len(lengths), max(lengths), width)
    for row, length in enumerate(lengths):
        if form == "exact-count":
            kept = np.ones(length * width, dtype=np.float32)
            kept[rng.choice(kept.size, int(kept.size * rate), replace=False)] = 0.0
        else:
            kept = (rng.random(length * width) >= rate).astype(np.float32) / np.float32(1.0 - rate)
        factors[row, :length] = torch.from_numpy(kept).view(length, width)
    return factors


def one_side(anchors: Tensor, others: Tensor, *, temperature: float) -> Tensor:
    """Returns the mean cross-entropy of the anchors of one view, each with its positive among 2B - 1 vectors.

    Row i has the cosines with the B vectors of the other view, where i is the positive, and with the other B
    - 1 vectors of the same view, over the temperature.
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
