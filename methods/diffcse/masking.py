"""The corruption that a masked language model was trained to repair, on one sentence's word pieces."""

from __future__ import annotations

import numpy as np

MASKED, RANDOM = 0.8, 0.1
"""Shares of the chosen pieces that become the mask and a random piece; the rest stays as it is."""


def corrupt(
    ids: np.ndarray,
    rng: np.random.Generator,
    *,
    share: float,
    special: np.ndarray,
    mask_id: int,
    vocabulary: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the corrupted ids and which positions were chosen.

    Every piece that is no special token of the tokenizer is chosen with chance `share`. Of the chosen, 80 %
    become the mask, 10 % a piece drawn from the whole vocabulary, special ones included, 10 % stay.
    Source: DiffCSE's code, BERT's rule. Shapes: ids int32 [length]; returns [length] ids and [length] bool.
    """
    chosen = (rng.random(len(ids)) < share) & ~np.isin(ids, special)
    fate = rng.random(len(ids))
    drawn = rng.integers(vocabulary, size=len(ids))
    edited = np.where(chosen & (fate < MASKED), mask_id, ids)
    edited = np.where(chosen & (fate >= MASKED) & (fate < MASKED + RANDOM), drawn, edited)
    return edited.astype(ids.dtype), chosen
