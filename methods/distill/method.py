"""A student fitted to a teacher's vectors; Legend: B batch, V views, t teacher width."""

from collections.abc import Sequence

import numpy as np
import torch

from methods.core.losses import unit_squared_error
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.rows import FIRST_AUGMENTATION, TEXT, Row
from methods.core.teachers import add_mapping
from methods.core.types import Batch, Loss
from methods.distill.config import DistillConfig


class Distill(Method):
    """Mean squared distance between the unit vectors of student and teacher. The texts are the augmentations
    of the corpus or, without any, its sentences.
    """

    Config = DistillConfig
    config: DistillConfig

    def __init__(self, config: DistillConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        self.vectors = networks.teacher_vectors("distill")
        add_mapping(self.encoder, config.mapping, teacher_dim=self.vectors.dim)

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Opens the teacher's precomputed vectors of the corpus, and tokenises every view."""
        self.vectors.open(rows)
        augmentations = min((len(row.augmentations) for row in rows), default=0)
        self.columns = (
            range(FIRST_AUGMENTATION, FIRST_AUGMENTATION + augmentations) if augmentations else (TEXT,)
        )
        return super().prepare(rows)

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens of all views, view after view, and the teacher's vectors of the same texts."""
        targets = torch.cat([self.vectors.of(rows, column) for column in self.columns])  # [V B, t]
        return {**super().collate(rows, step=step, rng=rng), "teacher": targets}

    def loss(self, batch: Batch) -> Loss:
        """Returns the mean of 2 - 2 cos(student, teacher) over all views of the batch."""
        student = self.encoder.finish(self.encoder(batch["anchor"]))  # [V B, t]
        return Loss(unit_squared_error(student, batch["teacher"]), {})
