"""What an evaluation task is: it receives a function from texts to vectors, never a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

Encode = Callable[[Sequence[str]], np.ndarray]
"""N texts to an array [N, d]; fp32 or fp16. Similarities are always computed in float64."""


class Score(NamedTuple):
    """One measured number in raw units: a correlation in [-1, 1], an accuracy or MAP in [0, 1].

    `setting` names what the number is computed over, for example `all`, `mean`, `wmean`, `all/last`.
    """

    task: str
    metric: str
    setting: str
    value: float
    n: int


class Task(Protocol):
    """One evaluation data set under one protocol."""

    name: str
    suite: str  # "sts" | "transfer" | "reranking" | "nli" | "geometry"
    sources: Sequence[str]  # keys of harness/data/sources.py

    def texts(self) -> Iterable[str]:
        """Yields every text the task will ask for, so that all tasks are encoded in one pass."""
        ...

    def evaluate(self, encode: Encode) -> list[Score]: ...
