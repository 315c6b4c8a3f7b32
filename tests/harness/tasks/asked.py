"""What a task asks an encoder for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.tasks.interface import Task


def texts_asked(task: Task) -> list[str]:
    """Returns every text that a task asks for while it is evaluated, as often as it asks for it."""
    asked: list[str] = []

    def encode(texts: Sequence[str]) -> np.ndarray:
        asked.extend(texts)
        return np.ones((len(texts), 2))

    task.evaluate(encode)
    return asked
