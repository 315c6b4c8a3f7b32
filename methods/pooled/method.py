"""Untrained baselines: a pre-trained backbone and a pooling."""

from __future__ import annotations

from collections.abc import Sequence

from methods.core.method import Method, MethodConfig
from methods.core.types import Row


class Pooled(Method):
    """Exports the backbone with the run's pooling; its runs have zero steps."""

    Config = MethodConfig
    word_vectors = "accepted"

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Returns the rows as they are: nothing is trained, so nothing is tokenised."""
        return rows
