"""Mirror-BERT (Liu et al. 2021); Legend: B sentences, L tokens, d width."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor
from torch.nn import functional

from methods.core.dropout import add_drop_head, set_dropout
from methods.core.fast.packed import can_pack, token_states
from methods.core.losses import nt_xent
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.rows import Row
from methods.core.types import Batch, Loss, Tokens
from methods.mirror_bert.config import MirrorBertConfig, SpanPlace

LITERAL_MASK = "[MASK]"
"""Mask text of the released code; RoBERTa reads it as three ordinary tokens."""


class MirrorBert(Method):
    """Contrasts a sentence with a copy that has a masked span, with different dropout."""

    Config = MirrorBertConfig
    config: MirrorBertConfig

    def __init__(self, config: MirrorBertConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        if config.dropout is not None:
            set_dropout(self.encoder, config.dropout)
        if config.drophead > 0:
            add_drop_head(self.encoder.backbone, config.drophead, when_none=config.drophead_all)
        mask_token = self.encoder.tokenizer.mask_token
        self.mask = LITERAL_MASK if config.mask_token == "text" else str(mask_token)

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns `pair` [2B, L]: the sentences, then their copies with a masked span."""
        config = self.config
        copies = [
            mask_span(
                row.text,
                rng,
                length=config.span_length,
                shortest=config.span_shortest,
                place=config.span_place,
                mask=self.mask,
            )
            for row in rows
        ]
        edited = self.encoder.token_ids(copies, max_length=config.max_length)
        return {"pair": self.encoder.pad([*self.token_ids(rows), *edited])}

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrastive loss of B sentences and their copies."""
        first, second = self.vectors(batch["pair"]).chunk(2)
        return mirror_bert_loss(first, second, temperature=self.config.temperature)

    def vectors(self, tokens: Tokens) -> Tensor:
        """Returns the trained vectors of both views, [2B, d].

        `padded-mean` averages all `max_length` positions of a row, as in the released code: most of them are
        padding, which exported vectors do not include.
        """
        if self.config.vector == "pooled":
            return self.encoder(tokens)
        missing = self.config.max_length - tokens["input_ids"].shape[1]
        filler = {"input_ids": self.encoder.tokenizer.pad_token_id}
        padded = {
            name: functional.pad(ids, (0, missing), value=filler.get(name, 0)) for name, ids in tokens.items()
        }
        backbone: Any = self.encoder.backbone
        if can_pack(backbone, padded):
            states = token_states(backbone, backbone.embeddings(input_ids=padded["input_ids"]), padded)
        else:
            states = self.encoder.states(padded)[-1]  # [2B, max_length, d]
        return states.mean(dim=1)


def mask_span(
    text: str, rng: np.random.Generator, *, length: int, shortest: int, place: SpanPlace, mask: str
) -> str:
    """Returns the text with `length` characters replaced by the mask between blanks.

    A text of fewer than `shortest` or at most `length` characters stays as it is. The start is uniform over 0
    .. n - length - 1, so the last character is never masked. A cut word becomes two words.
    Source: Mirror-BERT's code; the paper describes a random span.
    """
    if not length or len(text) < shortest or len(text) <= length:
        return text
    start = int(rng.integers(len(text) - length))
    if place == "first-occurrence":
        start = text.index(text[start : start + length])
    return f"{text[:start]} {mask} {text[start + length :]}"


def mirror_bert_loss(first: Tensor, second: Tensor, *, temperature: float) -> Loss:
    """Returns the contrastive loss of 2B vectors: each has one positive and 2B - 2 negatives.

    Source: Mirror-BERT eq. 1, which its code takes from a library of losses; the same as NT-Xent.
    Shapes: first, second [B, d]. Part: the mean cosine of the positive pairs.
    Facts: symmetric in the two views; log(2B - 1) if all vectors are equal; 0 for one sentence.
    """
    positive = functional.cosine_similarity(first.detach().float(), second.detach().float()).mean()
    return Loss(nt_xent(first, second, temperature=temperature), {"positive_cosine": positive})
