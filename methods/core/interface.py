"""The interface of this benchmark: what a method receives, what it returns, what training yields.

Legend of shapes used throughout `methods`: B batch, L tokens, d width, K views, M queue rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

if TYPE_CHECKING:
    from methods.core.encoder import SentenceEncoder
    from methods.core.parents import EncoderFactory

Tokens = dict[str, Tensor]
"""`input_ids`, `attention_mask` and, where the backbone has them, `token_type_ids`; each [B, L]."""

Batch = dict[str, Any]
"""Views named by the method: `Tokens` or a tensor."""


class Row(NamedTuple):
    """One training example; `index` is its place in the corpus and the key of per-sentence caches."""

    index: int
    text: str
    paraphrase: tuple[str, ...] = ()


class Loss(NamedTuple):
    """A scalar fp32 `total` with a graph, and detached scalars for the log."""

    total: Tensor
    parts: dict[str, Tensor]


@runtime_checkable
class Encoder(Protocol):
    """What training yields and evaluation takes."""

    @property
    def dim(self) -> int: ...
    def encode(self, texts: Sequence[str], *, batch_size: int = 128) -> np.ndarray: ...  # [N, dim] fp32
    def save(self, directory: Path) -> None: ...


class MethodConfig(BaseModel):
    """Settings of one run of a method. Numbers come from a recipe: no field here has a default value.

    Strict types, frozen, unknown keys are refused.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    max_length: int = Field(ge=3, description="training truncation in word pieces, special tokens included")


class Method(nn.Module):
    """A training objective around an encoder. Trained parameters are those with `requires_grad`.

    The trainer calls, in this order: `prepare` once; then for every step `collate` (in a prefetch thread),
    `loss`, the optimiser, `after_step`; at an evaluation and at the end `exported`.
    """

    Config: ClassVar[type[MethodConfig]] = MethodConfig

    def __init__(self, config: Any, new_encoder: EncoderFactory) -> None:
        super().__init__()
        self.config = config
        self.encoder: SentenceEncoder = new_encoder()

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Returns the rows to train on; may fill registered buffers, never create them (law 4)."""
        return rows

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the batch as CPU tensors: a pure function of its arguments (law 1).

        The default is one view named `anchor`, the tokens of the texts.
        """
        return {"anchor": self.tokens([row.text for row in rows])}

    def loss(self, batch: Batch) -> Loss:
        """Returns the loss of one batch; may push to queues kept in registered buffers."""
        raise TypeError(f"{type(self).__name__} is not trained: its runs must have `steps: 0`")

    def after_step(self, step: int) -> None:
        """Runs after the optimiser's step `step`; the place of exponential moving averages."""

    def exported(self) -> Encoder:
        """Returns the encoder that is evaluated and published: by default without any training head."""
        return self.encoder

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """Returns the padded word pieces of `texts`, each [B, L], truncated to the configured length."""
        return self.encoder.tokenize(texts, max_length=self.config.max_length)
