"""The cosines among sentences of the corpus that the papers train on."""

from __future__ import annotations

from typing import Any

from harness.tasks.interface import Declaration, Task


def _batch_cosines(text: str, source: str, **options: Any) -> Task:
    from harness.tasks.batch_cosines import BatchCosines

    return BatchCosines("batch-cosines", source, **options)


TASKS = (Declaration("batch-cosines", "wiki1m", _batch_cosines),)
