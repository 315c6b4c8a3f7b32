"""One batch in a few groups of like length: less padding, and less memory where activations are recomputed.

Legend: N rows of a batch, L tokens, d width. The loss still sees all N rows at once, so the batches, and with
them the negatives of a contrastive loss, stay what they were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from methods.core.encoder import SentenceEncoder
from methods.core.types import Batch, Tokens

LENGTH_GROUPS = 4
"""Groups a batch is encoded in; more save little padding and cost launches."""

ROWS = "rows"
"""The entry of a grouped batch that says where each row stands among the groups' rows; [N] int64."""


def pad_in_groups(encoder: SentenceEncoder, ids: Sequence[np.ndarray], *, masked: bool = True) -> Batch:
    """Returns the rows as token blocks of like length, and `rows` to restore their order.

    With `masked` each block is as long as its longest row, and carries a mask only if its rows differ in
    length. Without it no block has a mask, so padding is read as text and every block keeps the length of the
    longest row of all: the length is then part of what is computed.
    """
    lengths = np.array([len(row) for row in ids])
    order = np.argsort(-lengths, kind="stable") if masked else np.arange(len(ids))
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    batch: Batch = {ROWS: torch.from_numpy(places)}
    whole = None if masked else encoder.pad(ids)["input_ids"]  # [N, L]
    for number, members in enumerate(np.array_split(order, min(LENGTH_GROUPS, len(ids)))):
        if whole is not None:
            tokens = {"input_ids": whole[torch.from_numpy(members)]}
        else:
            tokens = encoder.pad([ids[index] for index in members])
            if lengths[members[0]] == lengths[members[-1]]:
                tokens.pop("attention_mask")
        batch[f"group{number}"] = tokens
    return batch


def encode_in_groups(encode: Callable[[Tokens], Tensor], batch: Batch, *, recompute: bool = False) -> Tensor:
    """Returns the vectors of all rows in their own order, one pass a group; [N, d].

    With `recompute` a group's activations are dropped after the forward pass and computed again, under the
    same random state, when its gradient is due: equal numbers, memory of one group, one more forward pass.
    """
    blocks = [tokens for name, tokens in batch.items() if name != ROWS]
    if recompute:
        vectors = [checkpoint(encode, tokens, use_reentrant=False) for tokens in blocks]
    else:
        vectors = [encode(tokens) for tokens in blocks]
    return torch.cat(vectors)[batch[ROWS]]
