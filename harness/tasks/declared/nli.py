"""Sentence-pair inference: SICK-E and SNLI."""

from functools import partial

from harness.tasks.declared.transfer import classification_task
from harness.tasks.interface import Declaration

TASKS = (
    Declaration("SICK-E", "sickr", partial(classification_task, "SICK-E"), suite="nli"),
    Declaration("SNLI", "snli", partial(classification_task, "SNLI"), suite="nli"),
)
