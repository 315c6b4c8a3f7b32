"""UNA (Shu and Lampos 2024): every few steps corrupted copies of the sentences join the batch.

Legend: B batch, L tokens, d width, G views of a sentence in one step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from methods.core.corpus import TokenizedCorpus, rows_of_view
from methods.core.heads import TanhHead
from methods.core.interface import Batch, Loss, Method, Row
from methods.core.losses import nt_xent
from methods.core.parents import EncoderFactory
from methods.una.config import UNAConfig
from methods.una.negatives import Negatives
from methods.una.objective import column_loss, pair_loss


class UNA(Method):
    """Symmetric NT-Xent; copies whose informative words were swapped are its hard negatives."""

    Config = UNAConfig
    config: UNAConfig

    def __init__(self, config: UNAConfig, new_encoder: EncoderFactory) -> None:
        super().__init__(config, new_encoder)
        self.head = TanhHead(self.encoder.width) if config.head == "mlp" else nn.Identity()
        self.paraphrases: TokenizedCorpus | None = None
        self.negatives: Negatives | None = None

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Tokenises the corpus and its paraphrases, and counts its terms unless no step needs them."""
        rows = super().prepare(rows)
        if self.config.positive == "paraphrase":
            views = rows_of_view(rows, 1)
            self.paraphrases = TokenizedCorpus(self.encoder, views, max_length=self.config.max_length)
        if self.config.period > 0:
            self.negatives = Negatives(rows, self.config)
        return rows

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns all rows' views in one block, [G B, L], view after view; on a UNA step with copies."""
        anchors = self.token_ids(rows)
        positives = anchors if self.paraphrases is None else [self.paraphrases.ids(row) for row in rows]
        if self.negatives is None or step % self.config.period != 0:
            return {"views": self.encoder.pad([*anchors, *positives])}
        copies = self.negatives.write(rows, rng)
        # a copy does not exist before its step: the only text that is tokenised inside the loop
        ids = [
            np.array(pieces, dtype=np.int32)
            for pieces in self.encoder.token_ids(copies.texts, max_length=self.config.max_length)
        ]
        passes = ids * 2 if self.config.role == "pair" else ids
        shares = {name: torch.tensor(share) for name, share in copies.shares.items()}
        return {"views": self.encoder.pad([*anchors, *positives, *passes]), "shares": shares}

    def loss(self, batch: Batch) -> Loss:
        """Returns NT-Xent; on a UNA step with the copies in their role, and logs what was swapped."""
        temperature = self.config.temperature
        vectors: Tensor = self.head(self.encoder(batch["views"]))  # [G B, d]
        if "shares" not in batch:
            return Loss(nt_xent(*vectors.chunk(2), temperature=temperature), {})
        if self.config.role == "pair":
            return Loss(pair_loss(*vectors.chunk(4), temperature=temperature), batch["shares"])
        return Loss(column_loss(*vectors.chunk(3), temperature=temperature), batch["shares"])
