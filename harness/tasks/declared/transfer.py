"""The seven transfer tasks of SentEval."""

from functools import partial
from typing import Any

from harness.tasks.interface import Declaration, Task


def classification_task(name: str, text: str, source: str, **options: Any) -> Task:
    """Returns the task of one of the data sets of `harness.tasks.transfer`."""
    from harness.tasks.transfer import DATA_SETS, ClassificationTask

    return ClassificationTask(DATA_SETS[name], text, source, **options)


TASKS = tuple(
    Declaration(name, name.lower(), partial(classification_task, name), suite="transfer")
    for name in ("MR", "CR", "SUBJ", "MPQA", "SST", "TREC", "MRPC")
)
