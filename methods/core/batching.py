"""Which texts are encoded together: every unique text once, batches with next to no padding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MAX_PADDING = 0.02
"""Share of padded positions allowed in one batch; time is computed tokens, padding included."""

FULL_ENOUGH = 1 / 8
"""Share of the budget from which on a batch ends where lengths change: without padding nothing is masked and
no token moved, and beyond that size a smaller batch costs next to nothing."""


def unique(texts: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Returns the unique texts in order of first use and, for every text, its index among them [N]."""
    index: dict[str, int] = {}
    inverse = np.fromiter((index.setdefault(text, len(index)) for text in texts), dtype=np.int64)
    return list(index), inverse


def plan_batches(
    lengths: np.ndarray, *, token_budget: int, max_padding: float = MAX_PADDING
) -> list[np.ndarray]:
    """Returns index arrays that partition the sequences, longest first.

    A batch holds at most `token_budget` positions (a longer sequence appears alone) and at most the share
    `max_padding` of them is padding. It ends where lengths change once it fills FULL_ENOUGH of the budget.
    Shapes: lengths [N] in tokens, each at least 1; the arrays together hold 0..N-1 once.
    """
    order = np.argsort(-lengths, kind="stable")
    batches: list[np.ndarray] = []
    start, real = 0, 0
    for end in range(len(order)):
        longest, length = int(lengths[order[start]]), int(lengths[order[end]])
        padded = longest * (end - start + 1)
        full = padded > token_budget or padded - real - length > max_padding * padded
        shorter = end > start and length < lengths[order[end - 1]]
        if end > start and (full or (shorter and real >= FULL_ENOUGH * token_budget)):
            batches.append(order[start:end])
            start, real = end, 0
        real += length
    if len(order):
        batches.append(order[start:])
    return batches
