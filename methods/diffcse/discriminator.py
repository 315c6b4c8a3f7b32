"""The second network of DiffCSE, which reads a rewrite next to the sentence's vector.

Legend: R rows, L tokens, d width.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.fast.packed import can_pack, token_states
from methods.core.types import Tokens


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
