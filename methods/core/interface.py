"""The interface of this benchmark: what a method receives, what it returns, what training yields.

Legend of shapes used throughout `methods`: B batch, L tokens, d width, K views, M queue rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from methods.core.corpus import TokenizedCorpus

if TYPE_CHECKING:
    from methods.core.encoder import SentenceEncoder
    from methods.core.parents import EncoderFactory

Tokens = dict[str, Tensor]
"""`input_ids`, `attention_mask` and, where the backbone has them, `token_type_ids`; each [B, L]."""

Batch = dict[str, Any]
"""Views named by the method: `Tokens` or a tensor."""


class Row(NamedTuple):
    """One training example; `index` is its place in the corpus and the key of per-sentence caches."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which no one calls on a row
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
        self.corpus: TokenizedCorpus | None = None
        self.fixed_modes: dict[str, bool] = {}  # submodule -> whether its dropout is active, always (law 5)

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Returns the rows to train on; may fill registered buffers, never create them (law 4).

        The default tokenises the corpus; a method that overrides it calls this one first.
        """
        self.corpus = TokenizedCorpus(self.encoder, rows, max_length=self.config.max_length)
        return rows

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the batch as CPU tensors: a pure function of its arguments (law 1).

        The default is one view named `anchor`, the tokens of the texts.
        """
        return {"anchor": self.encoder.pad(self.token_ids(rows))}

    def loss(self, batch: Batch) -> Loss:
        """Returns the loss of one batch; may push to queues kept in registered buffers."""
        raise TypeError(f"{type(self).__name__} is not trained: its runs must have `steps: 0`")

    def after_step(self, step: int) -> None:
        """Runs after the optimiser's step `step`; the place of exponential moving averages."""

    def exported(self) -> Encoder:
        """Returns the encoder that is evaluated and published: by default without any training head."""
        return self.encoder

    def token_ids(self, rows: Sequence[Row]) -> list[np.ndarray]:
        """Returns the word pieces of each row's text, truncated, special tokens included."""
        if self.corpus is None:
            raise RuntimeError("collate before prepare: the corpus is not tokenised yet")
        return [self.corpus.ids(row) for row in rows]

    def train(self, mode: bool = True) -> Self:
        """Sets the mode of everything but the submodules that state theirs in `fixed_modes`."""
        super().train(mode)
        for name, active in self.fixed_modes.items():
            self.get_submodule(name).train(active)
        return self
