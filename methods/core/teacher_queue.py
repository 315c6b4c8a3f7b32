"""A student, its teacher's vectors, and a queue of the teacher's vectors of earlier sentences.

Legend: B batch, t teacher width, M queue rows.
"""

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
import torch
from pydantic import Field, model_validator
from torch import Tensor

from methods.core import streams
from methods.core.corpus import texts_of
from methods.core.errors import InputError
from methods.core.losses import unit
from methods.core.method import Method, MethodConfig, ParentKind
from methods.core.networks import Networks
from methods.core.queues import VectorQueue
from methods.core.rows import Column, Row
from methods.core.teachers import TeacherMapping, TeacherVectors, add_mapping
from methods.core.types import Batch

HELD_OUT = "queue"


class TeacherQueueConfig(MethodConfig):
    """Settings of a student that is trained against a queue of its teacher's vectors."""

    teacher_view: int = Field(
        ge=0,
        description="text field that the teacher reads: 0 the sentence, p its p-th augmentation in "
        "the corpus",
    )
    mapping: TeacherMapping = Field(description="layer from the student's to the teacher's width")
    queue_size: int = Field(ge=0, description="M, teacher vectors kept next to the batch; 0: no queue")
    queue_start: Literal["corpus", "random", "empty"] = Field(
        description="corpus: vectors of held-out sentences; random: random directions; empty: it grows"
    )
    queue_seed: int | None = Field(
        ge=0, description="seed of the held-out sentences, the same in every run; null if none are held out"
    )

    @model_validator(mode="after")
    def _seed_is_used(self) -> Self:
        if (self.queue_start == "corpus") != (self.queue_seed is not None):
            raise InputError(
                f"queue_seed {self.queue_seed} with queue_start {self.queue_start}: expected a seed with "
                f"`corpus`, null otherwise"
            )
        if self.queue_size == 0 and self.queue_start != "empty":
            raise InputError(f"queue_start {self.queue_start} with queue_size 0: expected `empty`")
        return self

    @property
    def parent_kind(self) -> ParentKind:
        """The teacher's vectors."""
        return "teacher"

    @property
    def columns(self) -> Sequence[Column]:
        return (self.teacher_view,)


class TeacherQueueMethod(Method):
    """Shared parts of ConGen and CKD: teacher vectors looked up by row, and their queue.

    Trained: the student. A batch enters the queue after the optimiser's step, so no loss contains its batch
    twice.
    """

    config: TeacherQueueConfig
    vectors: TeacherVectors

    def __init__(self, config: TeacherQueueConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        self.teacher_dim = self.find_teacher(networks)
        self.map_student(networks)
        self.queue = VectorQueue(config.queue_size, self.teacher_dim) if config.queue_size else None
        if self.queue is not None and config.queue_start == "random":
            self.queue.push(unit(torch.randn(config.queue_size, self.teacher_dim)))
        self.entering: Tensor | None = None

    def find_teacher(self, networks: Networks) -> int:
        """Loads the teacher and returns its width t, the width of the queue."""
        self.vectors = networks.teacher_vectors(type(self).__name__.lower())
        return self.vectors.dim

    def map_student(self, networks: Networks) -> None:
        """Adds the layer to the teacher's width to the student."""
        add_mapping(self.encoder, self.config.mapping, teacher_dim=self.teacher_dim)

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Opens the teacher's vectors, tokenises its text field, and returns the rows not held out."""
        self.open_teacher(rows)
        super().prepare(rows)
        if self.config.queue_start != "corpus" or self.queue is None:
            return rows
        held, kept = hold_out(
            texts_of(rows, self.config.teacher_view),
            count=self.queue.size,
            seed=int(self.config.queue_seed or 0),
        )
        self.queue.push(unit(self.taught([rows[position] for position in held])))
        return [rows[position] for position in kept]

    def open_teacher(self, rows: Sequence[Row]) -> None:
        """Opens the teacher's precomputed vectors of the corpus."""
        self.vectors.open(rows)

    def taught(self, rows: Sequence[Row]) -> Tensor:
        """Returns the teacher's vectors of these rows; [B, t] fp32."""
        return self.vectors.of(rows, self.config.teacher_view)

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens of the text field that the teacher read, and its vectors [B, t]."""
        return {**super().collate(rows, step=step, rng=rng), "teacher": self.taught(rows)}

    def earlier(self, batch: Tensor) -> Tensor:
        """Returns the queue's rows [M, t] for a batch [B, t], which enters the queue after the step.

        Errors: InputError if the queue cannot hold one batch.
        """
        if self.queue is None:
            return batch[:0]
        self.queue.check_holds(len(batch))
        self.entering = batch
        return self.queue.stored()

    def after_step(self, step: int) -> None:
        """Pushes the batch to the queue, where it replaces the oldest rows."""
        if self.queue is not None and self.entering is not None:
            self.queue.push(self.entering)
            self.entering = None


def hold_out(texts: Sequence[str], *, count: int, seed: int) -> tuple[list[int], list[int]]:
    """Returns the indices of `count` random texts, and of all texts that differ from these, in order.

    Errors: InputError if there are fewer than `count` + 1 texts.
    """
    if count >= len(texts):
        raise InputError(
            f"the queue starts with {count} sentences of a corpus of {len(texts)}, which leaves none to "
            f"train on; use a larger corpus, a smaller `queue_size` or another `queue_start`"
        )
    held = np.sort(streams.generator(seed, HELD_OUT).permutation(len(texts))[:count]).tolist()
    taken = {texts[index] for index in held}
    return held, [index for index, text in enumerate(texts) if text not in taken]
