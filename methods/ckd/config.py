"""Settings of CKD; the README says which preset each switch belongs to."""

from typing import Literal, Self

from pydantic import Field, model_validator

from methods.core.errors import InputError
from methods.core.method import ParentKind
from methods.core.teacher_queue import TeacherQueueConfig


class CKDConfig(TeacherQueueConfig):
    """Settings of one CKD run."""

    temperature: float = Field(gt=0, description="tau, divides the cosine; where learned, its start")
    learn_temperature: bool = Field(description="train log(1 / tau) with the student")
    keep_mapping: bool = Field(description="whether the layer to the teacher's width is exported")
    student_vector: Literal["pooled", "pooler"] = Field(
        description="pooler: the checkpoint's own dense layer with tanh on the first token, exported too"
    )
    teacher: Literal["vectors", "network"] = Field(
        description="vectors: computed once for the corpus; network: the parent encoder reads every batch"
    )
    teacher_dropout: bool = Field(description="whether dropout is active in a teacher that reads batches")
    teacher_pooling: Literal["cls", "mean"] | None = Field(
        description="pooling of a teacher that reads batches; null: as its folder states"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.teacher == "vectors" and (self.teacher_dropout or self.teacher_pooling is not None):
            raise InputError(
                "teacher vectors are computed once, expected teacher_dropout false and teacher_pooling null; "
                "fix the recipe or set `teacher: network`"
            )
        if self.teacher == "network" and self.queue_start == "corpus":
            raise InputError(
                "queue_start corpus needs teacher vectors that are there before training; "
                "set `teacher: vectors` or `queue_start: empty`"
            )
        if self.student_vector == "pooler" and self.keep_mapping and self.mapping != "none":
            raise InputError("the pooler is the exported layer, expected keep_mapping false; fix the recipe")
        return self

    @property
    def parent_kind(self) -> ParentKind:
        """The teacher's vectors, or the teacher itself where it reads every batch."""
        return "encoder" if self.teacher == "network" else "teacher"
