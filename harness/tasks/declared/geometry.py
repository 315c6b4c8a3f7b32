"""Alignment, uniformity and anisotropy on STS-B, and the cosines of the corpus that the papers train on."""

from functools import partial
from typing import Any

from harness.tasks.interface import Declaration, Task
from harness.tasks.text_forms import stsb_source


def _batch_cosines(text: str, source: str, **options: Any) -> Task:
    from harness.tasks.geometry import BatchCosines

    return BatchCosines("batch-cosines", source, **options)


def _geometry(name: str, splits: tuple[str, ...], text: str, source: str, **options: Any) -> Task:
    from harness.tasks.geometry import GeometryTask

    return GeometryTask(name, splits, text, source, **options)


def _declared(name: str, *splits: str, suite: str | None = "geometry") -> Declaration:
    return Declaration(name, stsb_source, partial(_geometry, name, splits), suite=suite)


TASKS = (
    Declaration("batch-cosines", "wiki1m", _batch_cosines),
    _declared("geometry-dev", "dev"),
    _declared("geometry-test", "test"),
    _declared("geometry-whole", "train", "dev", "test", suite=None),
)
