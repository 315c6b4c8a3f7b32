"""The pairs of each SemEval year that STS-B contains: sets that need no further download."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.tasks.declared.sts import YEARS
from harness.tasks.interface import Declaration, Task
from harness.tasks.stsb_source import source_with_origins


def _part(year: str, text: str, source: str, **options: Any) -> Task:
    from harness.tasks.sts_sets import part_task

    return part_task(year, text, source, **options)


TASKS = tuple(
    Declaration(f"{year}-part", source_with_origins, partial(_part, year), suite="sts-part") for year in YEARS
)
