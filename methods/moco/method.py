"""MoCo for sentences: momentum keys, a queue, and optionally an edited sentence on the key side.

Legend: B batch, L tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch

from methods.core.corpus import TokenizedCorpus
from methods.core.momentum import MomentumContrast
from methods.core.networks import Networks
from methods.core.token_edits import TokenEdit, duplicate_in_place, hidden_positions, reorder_after_first
from methods.core.types import TEXT, Batch, Loss, Row, Tokens
from methods.moco.config import MoCoConfig
from methods.moco.roles import read_rewritten, rewrite_all


class MoCo(MomentumContrast):
    """Momentum contrast on the pooled vector: PT-BERT without its pseudo tokens."""

    Config = MoCoConfig
    config: MoCoConfig

    def __init__(self, config: MoCoConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        self.rewritten: TokenizedCorpus | None = None
        self.edits: dict[str, TokenEdit] = {
            "duplication": partial(duplicate_in_place, share=config.edit_share),
            "reorder": reorder_after_first,
        }

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Tokenises the corpus and, where the key side reads roles, its rewritten sentences."""
        rows = super().prepare(rows)
        if self.config.key_view == "roles":
            texts = [row.text for row in rows]
            file = self.config.role_file
            by_roles = rewrite_all(texts) if file is None else read_rewritten(Path(file), texts)
            changed = [Row(row.index, text) for row, text in zip(rows, by_roles, strict=True)]
            self.rewritten = TokenizedCorpus(self.encoder, changed, max_length=self.config.max_length)
        return rows

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens, and for an edited key view those of the key side and which rows are edited."""
        batch = super().collate(rows, step=step, rng=rng)
        if self.config.key_view == "same":
            return batch
        edited = rng.random(len(rows)) >= self.config.unedited_share  # [B]
        key = self.masked_view if self.config.key_view == "deletion" else self.rewritten_view
        return {**batch, "key": key(rows, edited, rng), "edited": torch.from_numpy(edited)}

    def masked_view(self, rows: Sequence[Row], edited: np.ndarray, rng: np.random.Generator) -> Tokens:
        """Returns the same tokens with some hidden by the attention mask; positions stay (deletion)."""
        ids = self.token_ids(rows)
        tokens = self.encoder.pad(ids)
        for index in np.flatnonzero(edited).tolist():
            kept = hidden_positions(len(ids[index]), rng, share=self.config.edit_share)
            tokens["attention_mask"][index, : len(kept)] = torch.from_numpy(kept)
        return tokens

    def rewritten_view(self, rows: Sequence[Row], edited: np.ndarray, rng: np.random.Generator) -> Tokens:
        """Returns other word pieces for the edited rows: duplicated, reordered or the sentence's roles."""
        ids = self.token_ids(rows)
        for index in np.flatnonzero(edited).tolist():
            if self.rewritten is not None:
                ids[index] = self.rewritten.ids(rows[index], TEXT)
            else:
                ids[index] = self.edits[self.config.key_view](ids[index], rng)
        return self.encoder.pad(ids)

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrastive loss; logs the share of edited sentences."""
        loss = super().loss(batch)
        if "edited" in batch:
            loss.parts["edited"] = batch["edited"].float().mean()
        return loss
