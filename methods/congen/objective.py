"""ConGen's two terms as a pure function. Legend: V student views, B batch, t teacher width, M queue rows."""

from __future__ import annotations

import torch
from torch import Tensor

from methods.core.distributions import Match, match_distributions
from methods.core.losses import unit


def distribution_distillation(
    students: Tensor,
    teachers: Tensor,
    queue: Tensor,
    *,
    teacher_temperature: float,
    student_temperature: float,
) -> Match:
    """Returns how far each student view's similarity distribution is from the teacher's, per view.

    Source: Limkonchotiwat et al. 2022 (Findings of EMNLP), equations 1 to 3; the released code has
    cross-entropy. Distributions are over the queue and the batch's teacher vectors, the row's own among them.
    Shapes: students [V, B, t], teachers [B, t] and queue [M, t] of unit rows; cross_entropy [V], entropy [].
    Gradients: to `students`; teachers and queue are constants.
    Facts: never below the entropy; equal to it where a student's rows are the teacher's and the temperatures
    agree.
    Errors: ValueError if the widths differ.
    """
    if students.shape[1:] != teachers.shape or queue.shape[1:] != teachers.shape[1:]:
        shapes = f"{tuple(students.shape)}, {tuple(teachers.shape)}, {tuple(queue.shape)}"
        raise ValueError(f"shapes {shapes} of students, teachers, queue, expected [V, B, t], [B, t], [M, t]")
    with torch.autocast(students.device.type, enabled=False):
        directions = unit(students)
    return match_distributions(
        directions,
        teachers,
        [queue, teachers] if len(queue) else [teachers],
        online_temperature=student_temperature,
        reference_temperature=teacher_temperature,
    )
