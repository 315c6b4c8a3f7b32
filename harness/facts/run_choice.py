"""Which runs a cell shows: the id of a system, a backbone and perhaps seeds. A system has no other name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from harness.declarations import check_name


@dataclass(frozen=True)
class RunChoice:
    """The runs of a system on one backbone: those of the seeds given, or all."""

    system: str
    backbone: str
    seeds: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.system}@{self.backbone}"


@dataclass(frozen=True)
class RunSystem:
    """A system on a backbone that has runs, and its label for a reader: `method/variant@backbone`."""

    choice: RunChoice
    label: str

    @classmethod
    def of(cls, system: str, method: str, variant: str, backbone: str) -> RunSystem:
        """Returns the value for a run's record, without its seed."""
        return cls(RunChoice(system, backbone), f"{method}/{variant}@{backbone}")


def split_run(text: str) -> tuple[str | None, str | None]:
    """Returns the system and the backbone of `system@backbone`; either may be left out.

    Errors: ValueError if the text names neither or is no name.
    """
    system, _, backbone = text.partition("@")
    for name in (system, backbone):
        if name:
            check_name(name)
    if not system and not backbone:
        raise ValueError("expected SYSTEM@BACKBONE, SYSTEM or @BACKBONE")
    return system or None, backbone or None


def _check_run(text: str) -> str:
    split_run(text)
    return text


RunText = Annotated[str, AfterValidator(_check_run)]
"""`pcl@bert-base-uncased`, `pcl` or `@bert-base-uncased`."""
