"""MoCo for sentences: momentum keys, a queue, and optionally an augmented sentence on the key side.

Legend: B batch, L tokens.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch

from methods.core.momentum import MomentumContrast
from methods.core.networks import Networks
from methods.core.rows import Row
from methods.core.token_edits import TokenEdit, duplicate_in_place, hidden_positions, reorder_after_first
from methods.core.types import Batch, Loss, Tokens
from methods.moco.config import MoCoConfig


class MoCo(MomentumContrast):
    """Momentum contrast on the pooled vector, which is PT-BERT without pseudo tokens."""

    Config = MoCoConfig
    config: MoCoConfig

    def __init__(self, config: MoCoConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        self.edits: dict[str, TokenEdit] = {
            "duplication": partial(duplicate_in_place, share=config.edit_share),
            "reorder": reorder_after_first,
        }

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens and, for an augmented key view, the key side's tokens and the augmented rows."""
        batch = super().collate(rows, step=step, rng=rng)
        if self.config.key_view == "same":
            return batch
        edited = rng.random(len(rows)) >= self.config.unedited_share  # [B]
        key = self.masked_view if self.config.key_view == "deletion" else self.edited_view
        return {**batch, "key": key(rows, edited, rng), "edited": torch.from_numpy(edited)}

    def masked_view(self, rows: Sequence[Row], edited: np.ndarray, rng: np.random.Generator) -> Tokens:
        """Returns the same tokens, some hidden by the attention mask; positions stay (deletion)."""
        ids = self.token_ids(rows)
        tokens = self.encoder.pad(ids)
        for index in np.flatnonzero(edited).tolist():
            kept = hidden_positions(len(ids[index]), rng, share=self.config.edit_share)
            tokens["attention_mask"][index, : len(kept)] = torch.from_numpy(kept)
        return tokens

    def edited_view(self, rows: Sequence[Row], edited: np.ndarray, rng: np.random.Generator) -> Tokens:
        """Returns new tokens for the augmented rows: duplicated or reordered."""
        ids = self.token_ids(rows)
        for index in np.flatnonzero(edited).tolist():
            ids[index] = self.edits[self.config.key_view](ids[index], rng)
        return self.encoder.pad(ids)

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrastive loss; logs the share of edited sentences."""
        loss = super().loss(batch)
        if "edited" in batch:
            loss.parts["edited"] = batch["edited"].float().mean()
        return loss
