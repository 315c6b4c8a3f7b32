"""Sentence-pair inference: SICK-E and SNLI."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.tasks.interface import Declaration, Task


def _inference(dataset: str, text: str, source: str, **options: Any) -> Task:
    from harness.tasks import transfer

    return transfer.ClassificationTask(getattr(transfer, dataset), text, source, **options)


TASKS = (
    Declaration("SICK-E", "sickr", partial(_inference, "SICK_E"), suite="nli"),
    Declaration("SNLI", "snli", partial(_inference, "SNLI"), suite="nli"),
)
