"""The contrastive distillation loss as a pure function. Legend: B batch, t teacher width, M queue rows."""

from __future__ import annotations

import torch
from torch import Tensor

from methods.core.distributions import pick_among_keys
from methods.core.losses import unit


def contrastive_distillation(
    students: Tensor, teachers: Tensor, queue: Tensor, *, scale: Tensor | float
) -> Tensor:
    """Returns the mean cross-entropy of picking each student's own teacher vector by scaled cosine.

    Source: Wu et al. 2021 (arXiv 2112.05638): the choices are the teacher's vectors of the batch, the
    sentence's own among them, and a bank of earlier ones.
    Shapes: students [B, t], teachers [B, t] and queue [M, t] of unit rows; returns a scalar in nats.
    Gradients: to `students` and, where it is a tensor, to `scale`; teachers and queue are constants.
    Facts: log(B + M) when all cosines are equal; the order of the queue's rows does not matter.
    Errors: ValueError if the widths differ.
    """
    if students.shape != teachers.shape or queue.shape[1:] != teachers.shape[1:]:
        shapes = f"{tuple(students.shape)}, {tuple(teachers.shape)}, {tuple(queue.shape)}"
        raise ValueError(f"students, teachers, queue have shapes {shapes}, expected [B, t], [B, t], [M, t]")
    # the scale appears on the student's side, through which its gradient comes
    with torch.autocast(students.device.type, enabled=False):
        scaled = unit(students) * scale
    return pick_among_keys(scaled, [queue, teachers] if len(queue) else [teachers], temperature=1.0)
