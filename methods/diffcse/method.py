"""DiffCSE (Chuang et al. 2022); Legend: B sentences, R = 2B or B rewrites, L tokens, d width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.fast.packed import can_pack, token_states
from methods.core.heads import BatchNormHead, TanhHead
from methods.core.losses import info_nce
from methods.core.method import Method
from methods.core.networks import Frozen, Networks
from methods.core.types import Batch, Loss, Row, Tokens
from methods.diffcse import objective
from methods.diffcse.config import DiffCSEConfig
from methods.diffcse.rewriting import corrupt, rewritten


class DiffCSE(Method):
    """SimCSE whose vector must also tell which tokens of a rewritten sentence are not its own."""

    Config = DiffCSEConfig
    config: DiffCSEConfig

    def __init__(self, config: DiffCSEConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        width = self.encoder.width
        batch_norm = config.head == "batch-norm"
        self.head = (
            BatchNormHead([width, 2 * width, width], first_bias=False) if batch_norm else TanhHead(width)
        )
        self.generator: Frozen | None = None
        self.discriminator: Discriminator | None = None
        if config.detection_weight > 0:
            model = networks.parent_masked_model("diffcse", output=config.generator_layer, like=self.encoder)
            self.generator = Frozen(model, dropout=config.generator_dropout)
            self.discriminator = Discriminator(networks.new_encoder())
        tokenizer = self.encoder.tokenizer
        self.special = np.array(tokenizer.all_special_ids)
        self.mask_id, self.vocabulary = int(tokenizer.mask_token_id), len(tokenizer)

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens `anchor` [B, L] and R copies: `corrupted` ids and `chosen` places [R, L].

        The copies of a sentence are corrupted independently; copy 1 of all sentences comes first.
        """
        ids = self.token_ids(rows)
        batch: Batch = {"anchor": self.encoder.pad(ids)}
        if self.discriminator is None:
            return batch
        copies = ids * (2 if self.config.detection_views == "both" else 1)
        masking: dict[str, Any] = {
            "share": self.config.mask_share,
            "special": self.special,
            "mask_id": self.mask_id,
            "vocabulary": self.vocabulary,
        }
        edits = [corrupt(row, rng, **masking) for row in copies]
        batch["corrupted"] = self.encoder.pad([edited for edited, _ in edits])["input_ids"]
        batch["chosen"] = torch.zeros_like(batch["corrupted"], dtype=torch.bool)
        for number, (_, chosen) in enumerate(edits):
            batch["chosen"][number, : len(chosen)] = torch.from_numpy(chosen)
        return batch

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrast of B sentences and, unless its weight is 0, replaced-token detection."""
        twice = doubled(batch["anchor"])
        vectors = self.head(self.encoder(twice))  # [2B, d]
        first, second = vectors.chunk(2)
        temperature = self.config.temperature
        if self.discriminator is None:
            return Loss(info_nce(first, second, temperature=temperature), {})
        original = {name: tensor[: len(batch["corrupted"])] for name, tensor in twice.items()}  # [R, L]
        written = self.rewrites(batch, original)
        labels = objective.replaced(written, original["input_ids"], original["attention_mask"])
        logits = self.discriminator({**original, "input_ids": written}, vectors[: len(written)])
        loss = objective.diffcse_loss(
            first,
            second,
            logits,
            labels,
            original["attention_mask"],
            temperature=temperature,
            weight=self.config.detection_weight,
            positions=self.config.detection_mean,
        )
        return loss._replace(parts=loss.parts | replaced_shares(labels, batch["chosen"], original))

    def rewrites(self, batch: Batch, original: Tokens) -> Tensor:
        """Returns what the generator makes of the corrupted copies; ids [R, L]."""
        assert self.generator is not None
        return rewritten(self.generator, original, batch["corrupted"], batch["chosen"], self.config)


def doubled(tokens: Tokens) -> Tokens:
    """Returns every row twice, all rows before their copies; [B, L] to [2B, L]."""
    return {name: torch.cat([tensor, tensor]) for name, tensor in tokens.items()}


def replaced_shares(labels: Tensor, chosen: Tensor, original: Tokens) -> dict[str, Tensor]:
    """Returns the share of replaced tokens among the chosen places and among the others, for the log."""
    others = original["attention_mask"].bool() & ~chosen
    return {
        "replaced_chosen": (labels & chosen).sum() / chosen.sum().clamp(min=1),
        "replaced_others": (labels & others).sum() / others.sum().clamp(min=1),
    }


class Discriminator(nn.Module):
    """A copy of the backbone with two classes at every position: original or replaced.

    The sentence's vector appears at the first position, in place of what the embedding layer gave there:
    after its layer norm and dropout, so without position, at its own length and whole.
    """

    def __init__(self, encoder: SentenceEncoder) -> None:
        super().__init__()
        self.body: Any = encoder.backbone
        self.classes = nn.Linear(encoder.width, 2)

    def forward(self, tokens: Tokens, vectors: Tensor) -> Tensor:
        """Returns the logits of all positions, padding too; tokens [R, L], vectors [R, d] to [R, L, 2].

        Source: DiffCSE's code; padded positions hold id 0, whatever the tokenizer pads with.
        Errors: InputError for backbones that are not BERT or RoBERTa.
        """
        if not can_pack(self.body, tokens):
            raise InputError(
                f"{type(self.body).__name__} as discriminator of diffcse, expected a BERT or RoBERTa; "
                "name such a backbone"
            )
        mask = tokens["attention_mask"]
        embedded = self.body.embeddings(input_ids=tokens["input_ids"] * mask)  # [R, L, d]
        embedded = torch.cat([vectors.to(embedded.dtype).unsqueeze(1), embedded[:, 1:]], dim=1)
        return self.classes(token_states(self.body, embedded, tokens))
