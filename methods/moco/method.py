"""MoCo for sentences: momentum keys, a queue, and optionally an edited sentence on the key side.

Legend: B batch, L tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal, Self

import numpy as np
import torch
from pydantic import Field, model_validator

from methods.core.corpus import TokenizedCorpus
from methods.core.errors import InputError
from methods.core.interface import Batch, Loss, Row, Tokens
from methods.core.momentum_contrast import MomentumContrast, MomentumContrastConfig
from methods.core.parents import EncoderFactory
from methods.core.views import Edit, duplicate_in_place, hidden_places, reorder_after_first
from methods.moco.roles import read_rewritten, rewrite_all


class MoCoConfig(MomentumContrastConfig):
    """Settings of one MoCo run."""

    key_view: Literal["same", "duplication", "deletion", "reorder", "roles"] = Field(
        description="what the key side reads: the same tokens, an edit of them, or the sentence's roles"
    )
    edit_share: float = Field(
        ge=0, le=1, description="share of the tokens that duplication or deletion edits"
    )
    unedited_share: float = Field(
        ge=0, le=1, description="share of the sentences whose key view stays the same tokens"
    )
    role_file: str | None = Field(
        description="file of `sentence<TAB>rewritten` lines for `roles`; null: tag the corpus with HanLP"
    )

    @model_validator(mode="after")
    def _file_is_read(self) -> Self:
        if self.role_file is not None and self.key_view != "roles":
            raise InputError(
                f"role_file with key_view {self.key_view}, expected key_view roles; mend the recipe"
            )
        return self


class MoCo(MomentumContrast):
    """Momentum contrast on the pooled vector: PT-BERT without its pseudo tokens."""

    Config = MoCoConfig
    config: MoCoConfig

    def __init__(self, config: MoCoConfig, new_encoder: EncoderFactory) -> None:
        super().__init__(config, new_encoder)
        self.rewritten: TokenizedCorpus | None = None
        self.edits: dict[str, Edit] = {
            "duplication": partial(duplicate_in_place, share=config.edit_share),
            "reorder": reorder_after_first,
        }

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Tokenises the corpus and, for the view `roles`, its rewritten sentences."""
        rows = super().prepare(rows)
        if self.config.key_view == "roles":
            texts = [row.text for row in rows]
            file = self.config.role_file
            views = rewrite_all(texts) if file is None else read_rewritten(Path(file), texts)
            changed = [Row(row.index, view) for row, view in zip(rows, views, strict=True)]
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
        for place in np.flatnonzero(edited).tolist():
            kept = hidden_places(len(ids[place]), rng, share=self.config.edit_share)
            tokens["attention_mask"][place, : len(kept)] = torch.from_numpy(kept)
        return tokens

    def rewritten_view(self, rows: Sequence[Row], edited: np.ndarray, rng: np.random.Generator) -> Tokens:
        """Returns other word pieces for the edited rows: duplicated, reordered or the sentence's roles."""
        ids = self.token_ids(rows)
        for place in np.flatnonzero(edited).tolist():
            if self.rewritten is not None:
                ids[place] = self.rewritten.ids(rows[place])
            else:
                ids[place] = self.edits[self.config.key_view](ids[place], rng)
        return self.encoder.pad(ids)

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrastive loss; logs the share of edited sentences."""
        loss = super().loss(batch)
        if "edited" in batch:
            loss.parts["edited"] = batch["edited"].float().mean()
        return loss
