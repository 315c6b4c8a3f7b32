"""CKD: InfoNCE from a student to a teacher's vectors. Legend: B batch, t teacher width, M queue rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from methods.ckd.objective import contrastive_distillation
from methods.core.corpus import TokenizedCorpus, rows_of_view
from methods.core.encoder import TANH, SentenceEncoder
from methods.core.errors import InputError
from methods.core.interface import Batch, Loss, Row
from methods.core.losses import unit
from methods.core.mapping import add_mapping
from methods.core.parents import EncoderFactory, Frozen
from methods.core.teacher_queue import TeacherQueueConfig, TeacherQueueMethod


class CKDConfig(TeacherQueueConfig):
    """Settings of one CKD run."""

    temperature: float = Field(gt=0, description="tau, divides the cosine; where learned, its start")
    learn_temperature: bool = Field(description="train log(1 / tau) with the student")
    keep_mapping: bool = Field(description="whether the layer to the teacher's width is exported")
    student_vector: Literal["pooled", "pooler"] = Field(
        description="pooler: the checkpoint's own dense layer with tanh on the first token, exported too"
    )
    teacher: Literal["vectors", "network"] = Field(
        description="vectors: computed once for the corpus; network: the parent encoder reads every batch"
    )
    teacher_dropout: bool = Field(description="whether dropout is active in a teacher that reads batches")
    teacher_pooling: Literal["cls", "mean"] | None = Field(
        description="pooling of a teacher that reads batches; null: as its folder states"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.teacher == "vectors" and (self.teacher_dropout or self.teacher_pooling is not None):
            raise InputError(
                "teacher vectors are computed once, expected teacher_dropout false and teacher_pooling null; "
                "mend the recipe or set `teacher: network`"
            )
        if self.teacher == "network" and self.queue_start == "corpus":
            raise InputError(
                "queue_start corpus needs teacher vectors that are there before training; "
                "set `teacher: vectors` or `queue_start: empty`"
            )
        if self.student_vector == "pooler" and self.keep_mapping and self.mapping != "none":
            raise InputError("the pooler is the exported layer, expected keep_mapping false; mend the recipe")
        return self


class CKD(TeacherQueueMethod):
    """Each student vector picks its own teacher vector among those of the batch and of a queue."""

    Config = CKDConfig
    config: CKDConfig

    def __init__(self, config: CKDConfig, new_encoder: EncoderFactory) -> None:
        self.network: Frozen | None = None
        super().__init__(config, new_encoder)
        start = torch.tensor(-math.log(config.temperature))
        self.log_scale = nn.Parameter(start) if config.learn_temperature else None
        self.teacher_corpus: TokenizedCorpus | None = None

    def width_of_teacher(self) -> int:
        """Returns t; a teacher that reads batches is loaded here and stays outside the module tree."""
        if self.config.teacher == "vectors":
            return super().width_of_teacher()
        teacher: Any = self.new_encoder.parent_encoder("ckd", pooling=self.config.teacher_pooling)
        if not isinstance(teacher, SentenceEncoder):
            raise InputError(
                f"{self.new_encoder.parent}: the teacher is no transformer, expected one that reads batches; "
                "name another parent or set `teacher: vectors`"
            )
        self.network = Frozen(teacher, dropout=self.config.teacher_dropout)
        return teacher.dim

    def map_student(self) -> None:
        """Makes the student; a layer that is not exported stands beside the encoder, not in it."""
        if self.config.student_vector == "pooler":
            self.encoder = pooler_encoder(self.new_encoder)
        self.projection: nn.Module = nn.Identity()
        if self.config.keep_mapping or self.config.mapping == "none":
            add_mapping(self.encoder, self.config.mapping, teacher_dim=self.teacher_dim)
        else:
            layer = nn.Linear(self.encoder.dim, self.teacher_dim)
            self.projection = nn.Sequential(layer, nn.Tanh()) if self.config.mapping == "tanh" else layer

    def open_teacher(self, rows: Sequence[Row]) -> None:
        """Opens the teacher's vectors, or tokenises the corpus as a teacher that reads batches does."""
        if self.network is None:
            super().open_teacher(rows)
        else:
            texts = rows_of_view(rows, self.config.teacher_view)
            self.teacher_corpus = TokenizedCorpus(
                self.network.module,  # type: ignore[arg-type]
                texts,
                max_length=self.config.max_length,
            )

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the student's tokens and the teacher's: its vectors, or tokens of its own tokenizer."""
        if self.network is None or self.teacher_corpus is None:
            return super().collate(rows, step=step, rng=rng)
        own = [self.teacher_corpus.ids(row) for row in rows]
        return {
            "anchor": self.encoder.pad(self.token_ids(rows)),
            "teacher": self.network.module.pad(own),  # type: ignore[operator]
        }

    def scale(self) -> Tensor | float:
        """Returns 1 / tau: a number, or the exponential of a trained one."""
        return 1.0 / self.config.temperature if self.log_scale is None else self.log_scale.exp()

    def read_teacher(self, taught: Any) -> Tensor:
        """Returns the batch's teacher vectors, as they came or from the teacher's own tokens; [B, t]."""
        if self.network is None:
            return taught
        return self.network.module.finish(self.network(taught))  # type: ignore[operator]

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrastive loss; logs how many vectors each student chose from, and 1 / tau."""
        students = self.projection(self.encoder.finish(self.encoder(batch["anchor"])))  # [B, t]
        teachers = unit(self.read_teacher(batch["teacher"]))  # [B, t]
        earlier = self.earlier(teachers)  # [M, t]
        total = contrastive_distillation(students, teachers, earlier, scale=self.scale())
        parts = {"keys": total.new_tensor(float(len(teachers) + len(earlier)))}
        if self.log_scale is not None:
            parts["scale"] = self.log_scale.detach().exp()
        return Loss(total, parts)


def pooler_encoder(new_encoder: EncoderFactory) -> SentenceEncoder:
    """Returns the student with the pre-trained pooler of its checkpoint as exported layer.

    Errors: InputError if the run pools anything but the first token, which is what a pooler reads.
    """
    encoder = new_encoder(hf_pooler=True)
    if encoder.pooling != "cls":
        raise InputError(
            f"student_vector pooler with pooling {encoder.pooling}, expected cls; mend the recipe"
        )
    encoder.output = encoder.backbone.pooler.dense  # type: ignore[union-attr, assignment]
    encoder.activation = TANH
    encoder.backbone.pooler = None  # type: ignore[assignment]
    return encoder
