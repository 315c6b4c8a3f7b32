"""ConGen: two student views against a teacher's distribution. Legend: B batch, t teacher width, M queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from methods.congen.objective import distribution_distillation
from methods.core.corpus import TokenizedCorpus, rows_of_view
from methods.core.grouping import encode_in_groups, pad_in_groups
from methods.core.interface import Batch, Loss, Row
from methods.core.losses import unit
from methods.core.teacher_queue import TeacherQueueConfig, TeacherQueueMethod

LENGTH_GROUPS = 4
"""Blocks of like length that a batch is encoded in."""


class ConGenConfig(TeacherQueueConfig):
    """Settings of one ConGen run."""

    student_view: int = Field(
        ge=0, description="text of the generalise term: 0 the sentence, p its p-th paraphrase in the corpus"
    )
    teacher_temperature: float = Field(gt=0, description="tau_T of the teacher's distribution")
    student_temperature: float = Field(gt=0, description="tau_S of the student's distributions")
    control_weight: float = Field(
        ge=0, le=1, description="a, weight of the term on the teacher's own text; the other term has 1 - a"
    )
    divergence: Literal["cross-entropy", "kl"] = Field(
        description="kl: less the entropy of the teacher's distribution, a constant; same gradient"
    )


class ConGen(TeacherQueueMethod):
    """Both views of the student reproduce how the teacher's vector compares with a queue of its others."""

    Config = ConGenConfig
    config: ConGenConfig
    other: TokenizedCorpus

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Prepares the teacher's text and the queue, and tokenises the student's other view."""
        others = rows_of_view(rows, self.config.student_view)
        self.other = TokenizedCorpus(self.encoder, others, max_length=self.config.max_length)
        return super().prepare(rows)

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens of all first views, then all second ones, and the teacher's vectors [B, t]."""
        both = [*self.token_ids(rows), *(self.other.ids(row) for row in rows)]
        views = pad_in_groups(self.encoder, both, groups=LENGTH_GROUPS)
        return {"views": views, "teacher": self.taught(rows)}

    def loss(self, batch: Batch) -> Loss:
        """Returns the weighted sum of control and generalise term; logs both and the target's entropy."""
        pooled = encode_in_groups(self.encoder, batch["views"])  # [2B, d]
        students = self.encoder.finish(pooled).unflatten(0, (2, -1))  # [2, B, t]
        teachers = unit(batch["teacher"])  # [B, t]
        earlier = self.earlier(teachers)  # [M, t]
        terms = distribution_distillation(
            students,
            teachers,
            earlier,
            teacher_temperature=self.config.teacher_temperature,
            student_temperature=self.config.student_temperature,
        )
        less_entropy = self.config.divergence == "kl"
        control, generalise = terms.divergence if less_entropy else terms.cross_entropy
        total = self.config.control_weight * control + (1 - self.config.control_weight) * generalise
        parts = {
            "control": control.detach(),
            "generalise": generalise.detach(),
            "entropy": terms.entropy.detach(),
            "keys": total.new_tensor(float(len(teachers) + len(earlier))),
        }
        return Loss(total, parts)
