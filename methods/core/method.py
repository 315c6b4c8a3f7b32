"""The base of every method: what it is built from, what it does at each point of training, what it yields."""

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
"""A parent that reads texts, or a teacher's vectors of the corpus."""
WordVectors = Literal["refused", "accepted", "needed"]
"""Whether a method accepts averages of word vectors as its encoder, or accepts only these."""


class MethodConfig(Settings):
    """Settings of one run of a method. Numbers come from a recipe: no field but the control has a default."""

    max_length: int = Field(ge=3, description="training truncation in word pieces, special tokens included")
    control: Control | None = Field(
        None,
        description="negated: the loss with its sign turned round; permuted: every sentence has the second "
        "view of another; null: the method itself",
    )

    @property
    def parent_kind(self) -> ParentKind | None:
        """Required kind of the run's parent, None if training reads no parent."""
        return None

    @property
    def columns(self) -> Sequence[Column]:
        """Which texts of a row are tokenised; the highest says how many augmentations a corpus must have."""
        return (TEXT,)


class Method(nn.Module):
    """A training objective around an encoder. Trained parameters are those with `requires_grad`.

    The trainer calls, in this order: `prepare` once; then for every step `collate` (in a prefetch thread),
    `loss`, the optimiser, `after_step`; at an evaluation `watched`, and `candidates` for what is kept.
    Steps count from 0 to `total_steps` - 1, in `collate` and in `after_step`, over all epochs; a run that is
    continued goes on counting. `loss` is told of its step by what `collate` puts into the batch.
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

        A method that overrides it calls this one; it may fill registered buffers, never create them (law 4).
        """
        if self.is_trained():
            self.corpus = TokenizedCorpus(
                self.encoder, rows, columns=self.columns, max_length=self.config.max_length
            )
        return rows

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the batch as CPU tensors, here `anchor`; a pure function of its arguments (law 1).

        step: from 0. Numbers stay as they are; `loss` gets them with the tensors.
        """
        return {"anchor": self.encoder.pad(self.token_ids(rows))}

    def loss(self, batch: Batch) -> Loss:
        """Returns the loss of one batch; may push to queues kept in registered buffers."""
        raise InputError(f"{type(self).__name__} is not trained, expected no step; set `steps: 0`")

    @classmethod
    def is_trained(cls) -> bool:
        """Returns whether the method has a loss; runs of one without have zero steps."""
        return cls.loss is not Method.loss

    def after_step(self, step: int) -> None:
        """Runs after the optimiser's step `step`, from 0; here exponential moving averages are taken."""

    def exported(self) -> Encoder:
        """Returns the encoder that is evaluated and published: by default without any training head."""
        return self.encoder

    def candidates(self) -> Sequence[Encoder]:
        """Returns the encoders of which the best on dev is evaluated and published: by default one."""
        return (self.exported(),)

    def watched(self) -> Sequence[Encoder]:
        """Returns the encoders whose dev scores select, one for each candidate: by default the candidates."""
        return self.candidates()

    def token_ids(self, rows: Sequence[Row]) -> list[np.ndarray]:
        """Returns the word pieces of the rows' texts, truncated, one column of `columns` after the other."""
        assert self.corpus is not None, "collate before prepare: the corpus is not tokenised yet"
        return [self.corpus.ids(row, column) for column in self.columns for row in rows]

    def train(self, mode: bool = True) -> Self:
        """Sets the mode of everything but the submodules that state theirs in `fixed_modes`."""
        super().train(mode)
        for name, active in self.fixed_modes.items():
            self.get_submodule(name).train(active)
        return self
