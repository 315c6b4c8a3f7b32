"""What a stage may know: its entry of the plan and the folders that it reads and writes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def _unseen(step: int, total: int, measures: Mapping[str, float]) -> None:
    """Ignores an evaluation."""


@dataclass(frozen=True)
class StageInputs:
    """The inputs of one stage.

    entry: its values in the plan, read as attributes (`harness.plan.entries`). folders: the folders that it
    reads, and those that it continues from, by their part in the stage. out: an existing folder for its
    files. device: `cpu` or `cuda`. record: values that the record of the outputs starts with. evaluated:
    called at each evaluation of a training with step, all steps and measures. vectors_key: returns the name
    under which the vectors of an encoder's folder are kept.
    """

    entry: Any
    folders: Mapping[str, Path]
    out: Path
    device: str = "cpu"
    record: Mapping[str, Any] = field(default_factory=dict)
    evaluated: Callable[[int, int, Mapping[str, float]], None] = _unseen
    vectors_key: Callable[[Path], str] = str
