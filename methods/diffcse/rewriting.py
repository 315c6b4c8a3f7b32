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
    mask = original["attention_mask"]
    blocks = zip(corrupted.split(ROWS_AT_ONCE), mask.split(ROWS_AT_ONCE), strict=True)
    written = torch.cat(
        [
            pieces(generator({"input_ids": ids, "attention_mask": part}), sample=sampled(config))
            for ids, part in blocks
        ]
    )
    if config.rewrite_places == "masked":
        written = torch.where(chosen, written, original["input_ids"])
    written[:, 0] = original["input_ids"][:, 0]
    return written


def pieces(scores: Tensor, *, sample: bool) -> Tensor:
    """Returns one piece of every position: the most probable, or one drawn; [R, L, V] to [R, L]."""
    if not sample:
        return scores.argmax(dim=-1)
    drawn = torch.multinomial(scores.float().softmax(dim=-1).flatten(0, 1), 1)  # [R L, 1]
    return drawn.view(scores.shape[:-1])


def sampled(config: DiffCSEConfig) -> bool:
    """Returns whether pieces are drawn."""
    return config.generator_output == "sample"
