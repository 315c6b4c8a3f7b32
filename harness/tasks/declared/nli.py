"""Sentence-pair inference: SICK-E and SNLI."""

from __future__ import annotations

from typing import Any

from harness.tasks.interface import Declaration, Task


def _sick_e(text: str, source: str, **options: Any) -> Task:
    from harness.tasks.nli import SICK_E
    from harness.tasks.transfer import ClassificationTask

    return ClassificationTask(SICK_E, text, source, **options)


def _snli(text: str, source: str, **options: Any) -> Task:
    from harness.tasks.nli import SnliTask

    return SnliTask(text, source, **options)


TASKS = (
    Declaration("SICK-E", "sickr", _sick_e, suite="nli"),
    Declaration("SNLI", "snli", _snli, suite="nli"),
)
