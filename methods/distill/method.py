"""A student fitted to a teacher's vectors; Legend: B batch, d student width, t teacher width."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from pydantic import Field

from methods.core.interface import Batch, Loss, Method, MethodConfig, Row
from methods.core.losses import unit_squared_error
from methods.core.mapping import Mapping, add_mapping
from methods.core.parents import EncoderFactory


class DistillConfig(MethodConfig):
    """Settings of one distillation run."""

    mapping: Mapping = Field(description="layer from student to teacher width, kept at inference")


class Distill(Method):
    """Mean squared distance between the unit vectors of student and teacher, text by text."""

    Config = DistillConfig
    config: DistillConfig
    teacher: np.ndarray

    def __init__(self, config: DistillConfig, new_encoder: EncoderFactory) -> None:
        super().__init__(config, new_encoder)
        self.new_encoder = new_encoder
        add_mapping(self.encoder, config.mapping, teacher_dim=new_encoder.teacher_dim("distill"))

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Opens the teacher's vectors, which were computed once for the corpus."""
        self.teacher = self.new_encoder.teacher_vectors(rows, "distill")
        return super().prepare(rows)

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens of the texts and the teacher's vectors [B, t]."""
        targets = torch.from_numpy(self.teacher[[row.index for row in rows], 0].astype(np.float32))
        return {**super().collate(rows, step=step, rng=rng), "teacher": targets}

    def loss(self, batch: Batch) -> Loss:
        """Returns the mean of 2 - 2 cos(student, teacher)."""
        student = self.encoder.finish(self.encoder(batch["anchor"]))  # [B, t]
        return Loss(unit_squared_error(student, batch["teacher"]), {})
