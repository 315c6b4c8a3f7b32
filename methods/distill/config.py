"""Settings of plain distillation."""

from pydantic import Field

from methods.core.method import MethodConfig, ParentKind
from methods.core.teachers import TeacherMapping


class DistillConfig(MethodConfig):
    """Settings of one distillation run."""

    mapping: TeacherMapping = Field(description="layer from the student's to the teacher's width, exported")

    @property
    def parent_kind(self) -> ParentKind:
        """The teacher's vectors."""
        return "teacher"
