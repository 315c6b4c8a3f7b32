"""How copies of sentences are corrupted, and what the frozen generator writes in their place.

Legend: R rows, L tokens, V vocabulary.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from methods.core.networks import Frozen
from methods.core.types import Tokens
from methods.diffcse.config import DiffCSEConfig

MASKED, RANDOM = 0.8, 0.1
"""Shares of the chosen pieces that become the mask and a random piece; the rest stays as it is."""

ROWS_AT_ONCE = 32
"""Rows whose scores of all pieces are held at once: 32 x 32 x 30,522 in fp32 are 125 MB."""


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


def rewritten(
    generator: Frozen, original: Tokens, corrupted: Tensor, chosen: Tensor, config: DiffCSEConfig
) -> Tensor:
    """Returns the rewritten ids: the generator's pieces, the first token always the original's.

    With `rewrite_places: masked` positions that were not chosen keep their token too.
    Source: DiffCSE's code, where the generator writes all positions.
    Shapes: original, corrupted ids and chosen places [R, L]; returns ids [R, L] without a graph.
    """
    tokens = {**original, "input_ids": corrupted}
    blocks = (
        {name: tensor[start : start + ROWS_AT_ONCE] for name, tensor in tokens.items()}
        for start in range(0, len(corrupted), ROWS_AT_ONCE)
    )
    sample = config.generator_output == "sample"
    written = torch.cat([pieces(generator(block), sample=sample) for block in blocks])
    if config.rewrite_places == "masked":
        written = torch.where(chosen, written, original["input_ids"])
    written[:, 0] = original["input_ids"][:, 0]
    return written


def pieces(scores: Tensor, *, sample: bool) -> Tensor:
    """Returns one piece of every position: the most probable, or one drawn; [R, L, V] to [R, L].

    Of waiting times with rates p_i the first is the i-th with probability p_i: a draw without a wait for the
    GPU, which torch's own makes to check the probabilities. The draws are the same.
    """
    if not sample:
        return scores.argmax(dim=-1)
    shares = scores.float().softmax(dim=-1)
    return (shares / torch.empty_like(shares).exponential_()).argmax(dim=-1)
