"""ConGen: two student views against a teacher's distribution. Legend: B batch, t teacher width, M queue."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from methods.congen.config import ConGenConfig
from methods.core.batching import encode_in_groups, pad_in_groups
from methods.core.distributions import Match, match_distributions
from methods.core.losses import unit
from methods.core.rows import Row
from methods.core.teacher_queue import TeacherQueueMethod
from methods.core.types import Batch, Loss


class ConGen(TeacherQueueMethod):
    """Fits both views of the student to the teacher's similarity distribution over a queue."""

    Config = ConGenConfig
    config: ConGenConfig

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens of all first views, then all second views, and the teacher's vectors [B, t]."""
        views = pad_in_groups(self.encoder, self.token_ids(rows))
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
            "keys": total.new_full((), float(len(teachers) + len(earlier))),
        }
        return Loss(total, parts)


def distribution_distillation(
    students: Tensor,
    teachers: Tensor,
    queue: Tensor,
    *,
    teacher_temperature: float,
    student_temperature: float,
) -> Match:
    """Returns the distance of each student view's similarity distribution from the teacher's.

    Source: Limkonchotiwat et al. 2022 (Findings of EMNLP), equations 1 to 3; the released code uses
    cross-entropy. Distributions are over the queue and the batch's teacher vectors, the row's own included.
    Shapes: students [V, B, t], teachers [B, t] and queue [M, t] of unit rows; cross_entropy [V], entropy [].
    Gradients: to `students`; teachers and queue are constants.
    Facts: never below the entropy; equal to it if a student's rows and temperature equal the teacher's.
    """
    with torch.autocast(students.device.type, enabled=False):
        directions = unit(students)
    return match_distributions(
        directions,
        teachers,
        [queue, teachers] if len(queue) else [teachers],
        online_temperature=student_temperature,
        reference_temperature=teacher_temperature,
    )
