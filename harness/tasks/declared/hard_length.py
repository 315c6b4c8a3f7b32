"""The pairs of a SemEval year whose lengths mislead; the thresholds are part of the name, after colons."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from harness.tasks.declared.sts import YEARS, year_source
from harness.tasks.interface import Declaration, Task
from harness.tasks.stsb_source import source_with_origins


def _hard_year(year: str, text: str, source: str, *, arguments: Sequence[str], **options: Any) -> Task:
    from harness.tasks.hard_length import hard_length_task
    from harness.tasks.sts_sets import year_task

    return hard_length_task(year_task(year, text, source, **options), arguments)


def _hard_part(year: str, text: str, source: str, *, arguments: Sequence[str], **options: Any) -> Task:
    from harness.tasks.hard_length import hard_length_task
    from harness.tasks.sts_sets import part_task

    return hard_length_task(part_task(year, text, source, **options), arguments)


TASKS = (
    *(
        Declaration(
            f"{year}-hard-length", partial(year_source, year), partial(_hard_year, year), arguments=True
        )
        for year in YEARS
    ),
    *(
        Declaration(
            f"{year}-part-hard-length", source_with_origins, partial(_hard_part, year), arguments=True
        )
        for year in YEARS
    ),
)
