"""Settings of CKD; the README lists the values of each preset."""

from typing import Literal, Self

from pydantic import Field, model_validator

from methods.core.errors import InputError
from methods.core.method import ParentKind
from methods.core.teacher_queue import TeacherQueueConfig


class CKDConfig(TeacherQueueConfig):
    """Settings of one CKD run."""

    temperature: float = Field(gt=0, description="tau, divides the cosine; its initial value if learned")
    learn_temperature: bool = Field(description="train log(1 / tau) with the student")
    keep_mapping: bool = Field(description="whether the layer to the teacher's width is exported")
    student_vector: Literal["pooled", "pooler"] = Field(
        description="pooler: the checkpoint's own dense layer with tanh on the first token, exported too"
    )
    teacher: Literal["vectors", "network"] = Field(
        description="vectors: computed once for the corpus; network: the parent encodes every batch"
    )
    teacher_dropout: bool = Field(description="whether dropout is active in a teacher `network`")
    teacher_pooling: Literal["cls", "mean"] | None = Field(
        description="pooling of a teacher `network`; null: as its folder states"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.teacher == "vectors" and (self.teacher_dropout or self.teacher_pooling is not None):
            raise InputError("`teacher: vectors` needs teacher_dropout false and teacher_pooling null")
        if self.teacher == "network" and self.queue_start == "corpus":
            raise InputError("queue_start corpus needs `teacher: vectors`")
        if self.student_vector == "pooler" and self.keep_mapping and self.mapping != "none":
            raise InputError("the pooler is the exported layer: set `keep_mapping: false`")
        return self

    @property
    def parent_kind(self) -> ParentKind:
        """The teacher's vectors, or the teacher itself if it encodes every batch."""
        return "encoder" if self.teacher == "network" else "teacher"
