"""Settings of ConGen; the README lists the values of each preset."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from methods.core.rows import Column
from methods.core.teacher_queue import TeacherQueueConfig


class ConGenConfig(TeacherQueueConfig):
    """Settings of one ConGen run."""

    student_view: int = Field(
        ge=0,
        description="text field of the generalise term: 0 the sentence, p its p-th augmentation in "
        "the corpus",
    )
    teacher_temperature: float = Field(gt=0, description="tau_T of the teacher's distribution")
    student_temperature: float = Field(gt=0, description="tau_S of the student's distributions")
    control_weight: float = Field(
        ge=0,
        le=1,
        description="a, weight of the term on the teacher's text field; the other term has weight 1 - a",
    )
    divergence: Literal["cross-entropy", "kl"] = Field(
        description="kl: without the constant entropy of the teacher's distribution; same gradient"
    )

    @property
    def columns(self) -> Sequence[Column]:
        return (self.teacher_view, self.student_view)
