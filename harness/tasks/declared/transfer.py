"""The seven transfer tasks of SentEval; the reader of one is `read_NAME` in harness.data.classification."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.tasks.interface import Declaration, Task


def _transfer(name: str, combine: str | None, with_f1: bool, text: str, source: str, **options: Any) -> Task:
    from harness.data import classification
    from harness.tasks.transfer import ClassificationTask, DataSet

    read = getattr(classification, f"read_{name.lower()}")
    dataset = DataSet(name, read, combine=combine, with_f1=with_f1)
    return ClassificationTask(dataset, text, source, **options)


def _declared(name: str, *, combine: str | None = None, with_f1: bool = False) -> Declaration:
    return Declaration(name, name.lower(), partial(_transfer, name, combine, with_f1), suite="transfer")


TASKS = (
    _declared("MR"),
    _declared("CR"),
    _declared("SUBJ"),
    _declared("MPQA"),
    _declared("SST"),
    _declared("TREC"),
    _declared("MRPC", combine="difference_and_product", with_f1=True),
)
