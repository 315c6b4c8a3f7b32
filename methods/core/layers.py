"""The layers of a backbone one by one: their means over a sentence, and the embedding layer held fixed.

Legend: B batch, K hidden states that are read, d width.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.pooling import EVERY_LAYER
from methods.core.types import Tokens


class LayerMeans(nn.Module):
    """The mean over tokens of every hidden state from `first` up to but without `last`; [B, K, d].

    Hidden state 0 is the embedding layer's. Special tokens count, padding does not. With `last` None all
    states are read: as many as `available`. The encoder is taken over and pools as no other use of it does.

    Errors: InputError if `last` is beyond the hidden states that there are.
    """

    def __init__(self, encoder: SentenceEncoder, *, first: int, last: int | None) -> None:
        super().__init__()
        self.encoder = encoder
        self.encoder.pooling = EVERY_LAYER
        self.first, self.last = first, last
        if last is not None and last > self.available:
            raise InputError(
                f"layers {first} to {last} of a backbone with {self.available} hidden states; expected at "
                "most that, or null for all; correct the recipe"
            )

    @property
    def available(self) -> int:
        """Hidden states of the backbone, the embedding layer's among them."""
        return int(self.encoder.backbone.config.num_hidden_layers) + 1  # type: ignore[union-attr, arg-type]

    @property
    def count(self) -> int:
        """Hidden states that are read: K."""
        return len(range(self.available)[self.first : self.last])

    def forward(self, tokens: Tokens) -> Tensor:
        return self.encoder(tokens)[:, self.first : self.last]


def freeze_embeddings(encoder: SentenceEncoder) -> None:
    """Takes the embedding layer out of training: words, positions, types and its norm."""
    backbone: Any = encoder.backbone
    backbone.embeddings.requires_grad_(False)
