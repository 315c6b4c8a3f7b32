"""A student fitted to a teacher's vectors; Legend: B batch, V views, t teacher width."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from pydantic import Field

from methods.core.corpus import TokenizedCorpus, rows_of_view
from methods.core.interface import Batch, Loss, Method, MethodConfig, Row
from methods.core.losses import unit_squared_error
from methods.core.mapping import Mapping, add_mapping
from methods.core.parents import EncoderFactory


class DistillConfig(MethodConfig):
    """Settings of one distillation run."""

    mapping: Mapping = Field(description="layer from student to teacher width, kept at inference")


class Distill(Method):
    """Mean squared distance between the unit vectors of student and teacher, text by text.

    The texts are the paraphrases of a corpus that carries any, else its sentences.
    """

    Config = DistillConfig
    config: DistillConfig
    teacher: np.ndarray
    views: list[int]
    others: list[TokenizedCorpus]

    def __init__(self, config: DistillConfig, new_encoder: EncoderFactory) -> None:
        super().__init__(config, new_encoder)
        self.new_encoder = new_encoder
        add_mapping(self.encoder, config.mapping, teacher_dim=new_encoder.teacher_dim("distill"))

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Opens the teacher's vectors, which were computed once for the corpus, and tokenises every view."""
        self.teacher = self.new_encoder.teacher_vectors(rows, "distill")
        paraphrases = min((len(row.paraphrase) for row in rows), default=0)
        self.views = list(range(1, 1 + paraphrases)) or [0]
        first, *others = (rows_of_view(rows, view) for view in self.views)
        super().prepare(first)
        self.others = [
            TokenizedCorpus(self.encoder, view, max_length=self.config.max_length) for view in others
        ]
        return rows

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens of all views, view after view, and the teacher's vectors of the same texts."""
        ids = [*self.token_ids(rows), *(other.ids(row) for other in self.others for row in rows)]
        taught = self.teacher[np.ix_([row.index for row in rows], self.views)]  # [B, V, t]
        targets = torch.from_numpy(taught.astype(np.float32)).transpose(0, 1).flatten(0, 1)  # [V B, t]
        return {"anchor": self.encoder.pad(ids), "teacher": targets}

    def loss(self, batch: Batch) -> Loss:
        """Returns the mean of 2 - 2 cos(student, teacher) over all views of the batch."""
        student = self.encoder.finish(self.encoder(batch["anchor"]))  # [V B, t]
        return Loss(unit_squared_error(student, batch["teacher"]), {})
