"""A student, its teacher's vectors, and a queue of the teacher's vectors of earlier sentences.

Legend: B batch, t teacher width, M queue rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
import torch
from pydantic import Field, model_validator
from torch import Tensor

from methods.core import streams
from methods.core.corpus import rows_of_view
from methods.core.errors import InputError
from methods.core.interface import Batch, Method, MethodConfig, Row
from methods.core.losses import unit
from methods.core.mapping import Mapping, add_mapping
from methods.core.parents import EncoderFactory
from methods.core.queues import VectorQueue

HELD_OUT = "queue"


class TeacherQueueConfig(MethodConfig):
    """Settings of a student that is compared with a queue of its teacher's vectors."""

    teacher_view: int = Field(
        ge=0, description="text the teacher reads: 0 the sentence, p its p-th paraphrase in the corpus"
    )
    mapping: Mapping = Field(description="layer from student to teacher width")
    queue_size: int = Field(ge=0, description="M, teacher vectors kept beside the batch; 0: no queue")
    queue_start: Literal["corpus", "random", "empty"] = Field(
        description="corpus: vectors of held-out sentences; random: random directions; empty: it grows"
    )
    queue_seed: int | None = Field(
        ge=0, description="which sentences are held out, the same in every run; null where none are"
    )

    @model_validator(mode="after")
    def _seed_is_used(self) -> Self:
        if (self.queue_start == "corpus") != (self.queue_seed is not None):
            raise InputError(
                f"queue_seed {self.queue_seed} with queue_start {self.queue_start}, expected a seed for "
                "corpus and null otherwise; mend the recipe"
            )
        if self.queue_size == 0 and self.queue_start != "empty":
            raise InputError(
                f"queue_start {self.queue_start} with queue_size 0, expected empty; mend the recipe"
            )
        return self


class TeacherQueueMethod(Method):
    """What ConGen and CKD share: teacher vectors looked up by row, and the queue they move through.

    Trained: the student. The teacher's vectors are constants, the queue is a buffer without gradient; a
    batch enters it after the optimiser's step, so a loss never compares with its own batch twice.
    """

    config: TeacherQueueConfig
    vectors: np.ndarray

    def __init__(self, config: TeacherQueueConfig, new_encoder: EncoderFactory) -> None:
        super().__init__(config, new_encoder)
        self.new_encoder = new_encoder
        self.teacher_dim = self.width_of_teacher()
        self.map_student()
        self.queue = VectorQueue(config.queue_size, self.teacher_dim) if config.queue_size else None
        if self.queue is not None and config.queue_start == "random":
            self.queue.push(unit(torch.randn(config.queue_size, self.teacher_dim)))
        self.entering: Tensor | None = None

    def width_of_teacher(self) -> int:
        """Returns t, the width of what the queue holds."""
        return self.new_encoder.teacher_dim(self.name)

    def map_student(self) -> None:
        """Gives the student its layer to the teacher's width."""
        add_mapping(self.encoder, self.config.mapping, teacher_dim=self.teacher_dim)

    @property
    def name(self) -> str:
        return type(self).__name__.lower()

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Opens the teacher's vectors, tokenises the text it read, and returns the rows not held out."""
        self.open_teacher(rows)
        super().prepare(rows_of_view(rows, self.config.teacher_view))
        if self.config.queue_start != "corpus" or self.queue is None:
            return rows
        held, kept = hold_out(
            rows_of_view(rows, self.config.teacher_view),
            count=self.queue.size,
            seed=int(self.config.queue_seed or 0),
        )
        self.queue.push(unit(self.taught([rows[place] for place in held])))
        return [rows[place] for place in kept]

    def open_teacher(self, rows: Sequence[Row]) -> None:
        """Opens the teacher's vectors, which were computed once for the corpus."""
        self.vectors = self.new_encoder.teacher_vectors(rows, self.name)

    def taught(self, rows: Sequence[Row]) -> Tensor:
        """Returns the teacher's vectors of these rows; [B, t] fp32."""
        found = self.vectors[[row.index for row in rows], self.config.teacher_view]
        return torch.from_numpy(found.astype(np.float32))

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens of the text the teacher read, and its vectors [B, t]."""
        return {**super().collate(rows, step=step, rng=rng), "teacher": self.taught(rows)}

    def earlier(self, batch: Tensor) -> Tensor:
        """Returns the queue's rows [M, t] that a batch [B, t] of unit teacher vectors is compared with.

        The batch itself enters the queue after the step.
        Errors: InputError if the queue cannot hold one batch.
        """
        if self.queue is None:
            return batch[:0]
        if self.queue.size < len(batch):
            raise InputError(
                f"queue of {self.queue.size} vectors is smaller than the batch of {len(batch)}, expected "
                "at least one batch, or 0 for no queue; mend the recipe"
            )
        self.entering = batch
        return self.queue.stored()

    def after_step(self, step: int) -> None:
        """Moves the batch into the queue in the place of its oldest rows."""
        if self.queue is not None and self.entering is not None:
            self.queue.push(self.entering)
            self.entering = None


def hold_out(rows: Sequence[Row], *, count: int, seed: int) -> tuple[list[int], list[int]]:
    """Returns the places of `count` random rows, and of the rows that share no text with them.

    Both in the corpus' order. A row with the text of a held-out one is in neither.
    Errors: InputError if fewer than `count` + 1 rows are there.
    """
    if count >= len(rows):
        raise InputError(
            f"the queue starts with {count} sentences of a corpus of {len(rows)}, expected some left to "
            "train on; take a larger corpus, a smaller `queue_size` or another `queue_start`"
        )
    held = np.sort(streams.generator(seed, HELD_OUT).permutation(len(rows))[:count]).tolist()
    texts = {rows[place].text for place in held}
    return held, [place for place, row in enumerate(rows) if row.text not in texts]
