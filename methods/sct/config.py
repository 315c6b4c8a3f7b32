"""Settings of SCT; the README lists the values of each preset."""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, model_validator

from methods.core.errors import InputError
from methods.core.method import MethodConfig, ParentKind
from methods.core.rows import Column
from methods.core.teachers import TeacherMapping
from methods.core.train_config import Settings


class SelfSupervision(Settings):
    """Loss without a teacher: each view against reference vectors of the encoder itself."""

    loss: Literal["kl", "cross-entropy", "info-nce"] = Field(
        description="kl; cross-entropy, with equal gradients; or InfoNCE with the reference as positive"
    )
    crossing: bool = Field(
        description="a view reproduces the other view's distribution; off: its own distribution"
    )
    both_directions: bool = Field(description="off: only the first view learns from the second")
    momentum: float | None = Field(
        ge=0, le=1, description="the reference is a moving average; null: the encoder itself"
    )
    reference_dropout: bool = Field(description="whether dropout is active in the reference pass")
    projector_blocks: int = Field(ge=0, description="number of two-layer blocks on the online side")
    projector_factor: int = Field(ge=1, description="w, inner width of a block relative to its outer width")
    queues: Literal["two", "one"] = Field(
        description="a queue for each view, or one queue for the references of both"
    )
    queue_update: bool = Field(description="off: the queues keep their random initial rows")


class Distillation(Settings):
    """Loss with a teacher: the student's views against the teacher's vectors of both views."""

    loss: Literal["distributions", "squared-error"] = Field(
        description="cross-view KL over queues of teacher vectors, or 2 - 2 cos, view by view"
    )
    mapping: TeacherMapping = Field(description="layer from the student's to the teacher's width, exported")


class SCTConfig(MethodConfig):
    """Settings of one SCT run: a single stage, or both losses in one run."""

    views: list[int] = Field(
        min_length=2,
        max_length=2,
        description="text fields of the two views: 0 the sentence, p its p-th augmentation",
    )
    online_temperature: float = Field(gt=0, description="tau of the trained side, divides the cosine")
    reference_temperature: float = Field(gt=0, description="tau of the target distributions")
    queue_size: int = Field(ge=0, description="K, rows of each queue, at least one batch; 0: no queue")
    queue_holds_batch: bool = Field(
        description="whether `queue_size` includes the current batch; off: it comes on top, as released"
    )
    loss_weight: float = Field(gt=0, description="w, multiplies the sum of the two directions")
    self_supervision: SelfSupervision | None = Field(description="null: learn only from the teacher")
    distillation: Distillation | None = Field(description="null: no teacher")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.self_supervision is None and self.distillation is None:
            raise InputError("self_supervision or distillation must be set")
        if min(self.views) < 0:
            raise InputError(
                f"views {self.views}, expected 0 for the sentence or p for its p-th augmentation"
            )
        return self

    @property
    def parent_kind(self) -> ParentKind | None:
        """The teacher's vectors, None without a teacher."""
        return "teacher" if self.distillation else None

    @property
    def columns(self) -> Sequence[Column]:
        return self.views
