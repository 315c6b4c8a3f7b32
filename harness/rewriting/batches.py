"""Sequences of about equal length together, so that little of a batch is padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def by_length(ids: Sequence[Sequence[int]], *, tokens: int) -> Iterator[list[int]]:
    """Yields places of sequences, longest first; a batch holds `tokens` positions or a single sequence."""
    batch: list[int] = []
    for place in sorted(range(len(ids)), key=lambda place: -len(ids[place])):
        if batch and (len(batch) + 1) * len(ids[batch[0]]) > tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
