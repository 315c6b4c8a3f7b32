"""Sequences of about equal length together, so that little of a batch is padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def by_length(ids: Sequence[Sequence[int]], *, tokens: int) -> Iterator[list[int]]:
    """Yields indices of sequences, longest first; a batch holds `tokens` positions or a single sequence."""
    batch: list[int] = []
    for index in sorted(range(len(ids)), key=lambda index: -len(ids[index])):
        if batch and (len(batch) + 1) * len(ids[batch[0]]) > tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
