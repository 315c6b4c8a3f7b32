"""What the frozen generator writes in place of a corrupted sentence.

Legend: R rows, L tokens, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from methods.core.networks import Frozen
from methods.core.types import Tokens
from methods.diffcse.config import DiffCSEConfig

ROWS_AT_ONCE = 32
"""Rows whose scores of all pieces are held at once: 32 x 32 x 30,522 in fp32 are 125 MB."""


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
    written = torch.cat([pieces(generator(block), sample=sampled(config)) for block in blocks])
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


def sampled(config: DiffCSEConfig) -> bool:
    """Returns whether pieces are drawn."""
    return config.generator_output == "sample"
