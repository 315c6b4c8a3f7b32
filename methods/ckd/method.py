"""CKD: InfoNCE from a student to a teacher's vectors. Legend: B batch, t teacher width, M queue rows."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from methods.ckd.config import CKDConfig
from methods.core.corpus import TokenizedCorpus
from methods.core.distributions import pick_among_keys
from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.heads import take_pooler
from methods.core.losses import unit
from methods.core.networks import Frozen, Networks
from methods.core.rows import Row
from methods.core.saving import TANH
from methods.core.teacher_queue import TeacherQueueMethod
from methods.core.teachers import add_mapping
from methods.core.types import Batch, Loss


class CKD(TeacherQueueMethod):
    """Contrasts each student vector with the teacher vectors of the batch and of a queue."""

    Config = CKDConfig
    config: CKDConfig

    def __init__(self, config: CKDConfig, networks: Networks) -> None:
        self.network: Frozen | None = None
        super().__init__(config, networks)
        start = torch.tensor(-math.log(config.temperature))
        self.log_scale = nn.Parameter(start) if config.learn_temperature else None
        self.teacher_corpus: TokenizedCorpus | None = None

    def find_teacher(self, networks: Networks) -> int:
        """Returns t; loads a teacher `network`, which stays outside the module tree."""
        if self.config.teacher == "vectors":
            return super().find_teacher(networks)
        teacher = networks.parent_encoder("ckd", pooling=self.config.teacher_pooling)
        self.network = Frozen(teacher, dropout=self.config.teacher_dropout)
        return teacher.dim

    def map_student(self, networks: Networks) -> None:
        """Builds the student; a layer that is not exported is kept outside the encoder."""
        if self.config.student_vector == "pooler":
            self.encoder = pooler_encoder(networks)
        self.projection: nn.Module = nn.Identity()
        if self.config.keep_mapping or self.config.mapping == "none":
            add_mapping(self.encoder, self.config.mapping, teacher_dim=self.teacher_dim)
        else:
            layer = nn.Linear(self.encoder.dim, self.teacher_dim)
            self.projection = nn.Sequential(layer, nn.Tanh()) if self.config.mapping == "tanh" else layer

    def open_teacher(self, rows: Sequence[Row]) -> None:
        """Opens the teacher's vectors, or tokenises the corpus for a teacher `network`."""
        if self.network is None:
            super().open_teacher(rows)
        else:
            self.teacher_corpus = TokenizedCorpus(
                self.network.module,  # type: ignore[arg-type]
                rows,
                columns=self.columns,
                max_length=self.config.max_length,
            )

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the student's tokens, and the teacher's vectors or tokens."""
        if self.network is None or self.teacher_corpus is None:
            return super().collate(rows, step=step, rng=rng)
        ids = [self.teacher_corpus.ids(row, self.config.teacher_view) for row in rows]
        return {
            "anchor": self.encoder.pad(self.token_ids(rows)),
            "teacher": self.network.module.pad(ids),  # type: ignore[operator]
        }

    def scale(self) -> Tensor | float:
        """Returns 1 / tau: a constant, or the exponential of a trained parameter."""
        return 1.0 / self.config.temperature if self.log_scale is None else self.log_scale.exp()

    def read_teacher(self, taught: Any) -> Tensor:
        """Returns the batch's teacher vectors, stored or computed from the teacher's tokens; [B, t]."""
        if self.network is None:
            return taught
        return self.network.module.finish(self.network(taught))  # type: ignore[operator]

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrastive loss; logs the number of candidates and 1 / tau."""
        students = self.projection(self.encoder.finish(self.encoder(batch["anchor"])))  # [B, t]
        teachers = unit(self.read_teacher(batch["teacher"]))  # [B, t]
        earlier = self.earlier(teachers)  # [M, t]
        total = contrastive_distillation(students, teachers, earlier, scale=self.scale())
        parts = {"keys": total.new_full((), float(len(teachers) + len(earlier)))}
        if self.log_scale is not None:
            parts["scale"] = self.log_scale.detach().exp()
        return Loss(total, parts)


def pooler_encoder(networks: Networks) -> SentenceEncoder:
    """Returns the student with the pre-trained pooler of its checkpoint as its output layer.

    Errors: InputError unless the run pools the first token, the input of a pooler.
    """
    encoder = networks.new_encoder(hf_pooler=True)
    if encoder.pooling != "cls":
        raise InputError(f"student_vector pooler with pooling {encoder.pooling}: set `pooling: cls`")
    encoder.output = take_pooler(encoder)
    encoder.activation = TANH
    return encoder


def contrastive_distillation(
    students: Tensor, teachers: Tensor, queue: Tensor, *, scale: Tensor | float
) -> Tensor:
    """Returns the mean cross-entropy of picking each student's own teacher vector by scaled cosine.

    Source: Wu et al. 2021 (arXiv 2112.05638): the candidates are the teacher's vectors of the batch, the
    sentence's own included, and a bank of earlier ones.
    Shapes: students [B, t], teachers [B, t] and queue [M, t] of unit rows; returns a scalar in nats.
    Gradients: to `students` and, if it is a tensor, to `scale`; teachers and queue are constants.
    Facts: log(B + M) when all cosines are equal; the order of the queue's rows does not matter.
    """
    # the scale multiplies the student, so it gets its gradient
    with torch.autocast(students.device.type, enabled=False):
        scaled = unit(students) * scale
    return pick_among_keys(scaled, [queue, teachers] if len(queue) else [teachers], temperature=1.0)
