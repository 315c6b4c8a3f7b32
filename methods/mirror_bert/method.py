"""Mirror-BERT (Liu et al. 2021); Legend: B sentences, L tokens, d width."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor
from torch.nn import functional

from methods.core.drophead import add_drop_head
from methods.core.dropout import set_dropout
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.types import Batch, Loss, Row, Tokens
from methods.mirror_bert.config import MirrorBertConfig
from methods.mirror_bert.objective import mirror_bert_loss
from methods.mirror_bert.span import mask_span

LITERAL_MASK = "[MASK]"
"""What the released code writes into every text, three ordinary pieces for a RoBERTa."""


class MirrorBert(Method):
    """A sentence and a copy with a masked span are each other's positives, apart by dropout as well."""

    Config = MirrorBertConfig
    config: MirrorBertConfig

    def __init__(self, config: MirrorBertConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        if config.dropout is not None:
            set_dropout(self.encoder, config.dropout)
        if config.drophead > 0:
            add_drop_head(self.encoder.backbone, config.drophead, when_none=config.drophead_all)
        own = self.encoder.tokenizer.mask_token
        self.mask = LITERAL_MASK if config.mask_token == "text" else str(own)

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns `pair` [2B, L]: the sentences, then their copies with a masked span."""
        copies = self.encoder.token_ids(
            [self.masked(row.text, rng) for row in rows], max_length=self.config.max_length
        )
        return {"pair": self.encoder.pad([*self.token_ids(rows), *copies])}

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrast of B sentences with their copies and all others."""
        first, second = self.vectors(batch["pair"]).chunk(2)
        return mirror_bert_loss(first, second, temperature=self.config.temperature)

    def vectors(self, tokens: Tokens) -> Tensor:
        """Returns the trained vectors of both views, [2B, d].

        `padded-mean` divides the sum over all positions of a row of `max_length` by their number, as the
        released code does: most of it are states at padding, which no exported vector has.
        """
        if self.config.vector == "pooled":
            return self.encoder(tokens)
        missing = self.config.max_length - tokens["input_ids"].shape[1]
        filler = {"input_ids": self.encoder.tokenizer.pad_token_id}
        padded = {
            name: functional.pad(ids, (0, missing), value=filler.get(name, 0)) for name, ids in tokens.items()
        }
        return self.encoder.hidden(padded).mean(dim=1)

    def masked(self, text: str, rng: np.random.Generator) -> str:
        """Returns the text of a second view."""
        config = self.config
        return mask_span(
            text,
            rng,
            length=config.span_length,
            shortest=config.span_shortest,
            place=config.span_place,
            mask=self.mask,
        )
