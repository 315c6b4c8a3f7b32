"""The student's layer to its teacher's width: part of the exported encoder."""

from __future__ import annotations

from typing import Literal

from torch import nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.saving import IDENTITY, TANH

TeacherMapping = Literal["none", "linear", "tanh"]
"""none: widths must agree; linear: one dense layer; tanh: a dense layer followed by tanh."""


def add_mapping(student: SentenceEncoder, mapping: TeacherMapping, *, teacher_dim: int) -> None:
    """Gives `student` the output layer that turns its width into the teacher's.

    The layer is there also where both widths agree, unless `mapping` is none.
    Errors: InputError if the widths differ and there is no mapping.
    """
    if mapping != "none":
        student.output = nn.Linear(student.width, teacher_dim)
        student.activation = TANH if mapping == "tanh" else IDENTITY
    elif teacher_dim != student.dim:
        raise InputError(
            f"the teacher has width {teacher_dim} and the student {student.dim}, expected equal; "
            "set `mapping: linear` or `mapping: tanh`"
        )
