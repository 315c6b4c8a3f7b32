"""Base class of every method: its settings, its hooks in the training loop, and the encoder it exports."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field
from torch import nn

from methods.core.controls import Control, become_control
from methods.core.corpus import TokenizedCorpus
from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.networks import Networks
from methods.core.rows import TEXT, Column, Row
from methods.core.train_config import Settings
from methods.core.types import Batch, Encoder, Loss

ParentKind = Literal["encoder", "teacher"]
"""Kinds of parents: an encoder, or a teacher's vectors of the corpus."""
WordVectors = Literal["refused", "accepted", "needed"]
"""Whether a method accepts or requires averages of word vectors as its encoder."""


class MethodConfig(Settings):
    """Settings of one run of a method. Numbers come from a recipe: only `control` has a default."""

    max_length: int = Field(ge=3, description="training truncation in word pieces, special tokens included")
    control: Control | None = Field(
        None,
        description="negated: the loss times -1; permuted: every sentence has the second "
        "view of another; null: the method itself",
    )

    @property
    def parent_kind(self) -> ParentKind | None:
        """Required kind of the run's parent, None if training reads no parent."""
        return None

    @property
    def columns(self) -> Sequence[Column]:
        """Tokenised text fields of a row; the highest is the number of augmentations that a corpus needs."""
        return (TEXT,)


class Method(nn.Module):
    """A training objective around an encoder. Trained parameters are those with `requires_grad`.

    The trainer calls, in this order: `prepare` once; then for every step `collate` (in a prefetch thread),
    `loss`, the optimiser, `after_step`; at an evaluation `watched`, and `candidates` for the encoder that is
    kept. Steps count from 0 to `total_steps` - 1 over all epochs, in `collate` and in `after_step`; a resumed
    run continues the count. If `loss` needs the step, `collate` puts it into the batch.
    """

    Config: ClassVar[type[MethodConfig]] = MethodConfig
    word_vectors: ClassVar[WordVectors] = "refused"

    def __init__(self, config: Any, networks: Networks) -> None:
        super().__init__()
        self.config = config
        self.encoder: SentenceEncoder = networks.new_encoder()
        self.columns: Sequence[Column] = config.columns
        self.corpus: TokenizedCorpus | None = None
        self.fixed_modes: dict[str, bool] = {}  # submodule -> whether its dropout is active, always (law 5)
        self.total_steps = 0  # of the whole run; the trainer sets it after `prepare`
        if config.control is not None:
            become_control(self, config.control)

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Returns the rows to train on, with the corpus tokenised if the method is trained.

        An override calls this method; it may fill registered buffers but not create them (law 4).
        """
        if self.is_trained():
            self.corpus = TokenizedCorpus(
                self.encoder, rows, columns=self.columns, max_length=self.config.max_length
            )
        return rows

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the batch as CPU tensors, here `anchor`; a pure function of its arguments (law 1).

        step: from 0. Numbers are passed to `loss` unchanged.
        """
        return {"anchor": self.encoder.pad(self.token_ids(rows))}

    def loss(self, batch: Batch) -> Loss:
        """Returns the loss of one batch; may push to queues kept in registered buffers."""
        raise InputError(f"{type(self).__name__} is not trained; set `steps: 0`")

    @classmethod
    def is_trained(cls) -> bool:
        """Returns whether the method has a loss; runs without a loss have zero steps."""
        return cls.loss is not Method.loss

    def after_step(self, step: int) -> None:
        """Runs after the optimiser's step `step`, from 0; moving averages are updated here."""

    def exported(self) -> Encoder:
        """Returns the encoder that is evaluated and published: by default without any training head."""
        return self.encoder

    def candidates(self) -> Sequence[Encoder]:
        """Returns the candidates, by default one; the best on dev is evaluated and published."""
        return (self.exported(),)

    def watched(self) -> Sequence[Encoder]:
        """Returns the encoders that are scored on dev, one for each candidate: by default the candidates."""
        return self.candidates()

    def token_ids(self, rows: Sequence[Row]) -> list[np.ndarray]:
        """Returns the word pieces of the rows' texts, truncated, one column of `columns` after the other."""
        assert self.corpus is not None, "collate before prepare: the corpus is not tokenised yet"
        return [self.corpus.ids(row, column) for column in self.columns for row in rows]

    def train(self, mode: bool = True) -> Self:
        """Sets the mode of all submodules except those in `fixed_modes`."""
        super().train(mode)
        for name, active in self.fixed_modes.items():
            self.get_submodule(name).train(active)
        return self
