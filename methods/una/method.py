"""UNA (Shu and Lampos 2024): every few steps the batch includes corrupted copies of the sentences.

Legend: B batch, L tokens, d width, G views of a sentence in one step.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from methods.core.heads import training_head
from methods.core.losses import cosine_similarities, nt_xent
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.rows import Row
from methods.core.types import Batch, Loss
from methods.una.config import UNAConfig
from methods.una.corruption import Negatives


class UNA(Method):
    """Symmetric NT-Xent with hard negatives: copies with swapped informative words."""

    Config = UNAConfig
    config: UNAConfig

    def __init__(self, config: UNAConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        self.head = training_head(config.head, self.encoder.width)
        self.negatives: Negatives | None = None

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Tokenises sentences and positives, and counts the corpus' terms if a step needs them."""
        rows = super().prepare(rows)
        if self.config.period > 0:
            self.negatives = Negatives(rows, self.config, self.encoder.piece_folder)
        return rows

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the views of all rows, [G B, L], view after view; with copies on a UNA step."""
        ids = self.token_ids(rows)
        if self.negatives is None or step % self.config.period != 0:
            return {"views": self.encoder.pad(ids)}
        texts, done = self.negatives.write(rows, rng)
        # copies exist only in their step, so they are tokenised inside the loop
        written = self.encoder.token_ids(texts, max_length=self.config.max_length)
        passes = written * 2 if self.config.role == "pair" else written
        shares = {name: torch.tensor(share) for name, share in done.items()}
        return {"views": self.encoder.pad([*ids, *passes]), "shares": shares}

    def loss(self, batch: Batch) -> Loss:
        """Returns NT-Xent, with the copies on a UNA step; logs statistics of the swaps."""
        temperature = self.config.temperature
        vectors: Tensor = self.head(self.encoder(batch["views"]))  # [G B, d]
        if "shares" not in batch:
            return Loss(nt_xent(*vectors.chunk(2), temperature=temperature), {})
        if self.config.role == "pair":
            return Loss(pair_loss(*vectors.chunk(4), temperature=temperature), batch["shares"])
        return Loss(column_loss(*vectors.chunk(3), temperature=temperature), batch["shares"])


def pair_loss(
    anchors: Tensor, positives: Tensor, first: Tensor, second: Tensor, *, temperature: float
) -> Tensor:
    """Returns NT-Xent over 2B sentences: the anchors and their corrupted copies, each with its positive.

    Source: the released code; a copy is encoded twice; its other view is its positive.
    Shapes: each [B, d]; returns a scalar in nats.
    Gradients: flow to all four.
    Facts: log(4B - 1) when all vectors are equal; log 3 if every copy equals its anchor and sentences are
    orthogonal, as the temperature falls.
    """
    return nt_xent(torch.cat([anchors, first]), torch.cat([positives, second]), temperature=temperature)


def column_loss(anchors: Tensor, positives: Tensor, negatives: Tensor, *, temperature: float) -> Tensor:
    """Returns NT-Xent over the B sentences with the B corrupted copies as further negatives of every row.

    Source: the paper's text, where negatives have no positives. Its eq. 1 omits anchor and positive from the
    denominator and can be below 0, so the NT-Xent denominator is used.
    Shapes: each [B, d]; returns a scalar in nats.
    Gradients: flow to all three.
    Facts: log(3B - 1) when all vectors are equal; `nt_xent` without negatives.
    """
    both = torch.cat([anchors, positives])  # [2B, d]
    logits = cosine_similarities(both, torch.cat([both, negatives])) / temperature  # [2B, 3B]
    index = torch.arange(len(both), device=both.device)
    itself = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, index[:, None], True)
    partner = (index + len(anchors)) % len(both)
    return functional.cross_entropy(logits.masked_fill(itself, -torch.inf), partner)
