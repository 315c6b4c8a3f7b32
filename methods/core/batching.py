"""Batching of texts: at evaluation every unique text once, in training groups of similar length.

A loss still sees all rows of its batch at once, so the negatives of a contrastive loss stay what they were.
Legend: N rows of a batch, L tokens, d width.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from methods.core.types import MASK, Batch, Tokens

MAX_PADDING = 0.02
"""Share of padded positions allowed in one batch; time is computed tokens, padding included."""

FULL_ENOUGH = 1 / 8
"""Share of the budget from which on a batch ends where lengths change: without padding nothing is masked and
no token moved, and beyond that size a smaller batch costs next to nothing."""

LENGTH_GROUPS = 4
"""Groups a batch is encoded in; more save little padding and cost launches."""

ROWS = "rows"
"""The entry of a grouped batch that says where each row stands among the groups' rows; [N] int64."""


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


def pad_in_groups(encoder: Any, ids: Sequence[np.ndarray], *, masked: bool = True) -> Batch:
    """Returns the rows as token blocks of like length from `encoder.pad`, and `rows` to restore their order.

    With `masked` each block is as long as its longest row, and carries a mask only if its rows differ in
    length. Without it no block has a mask, so padding is read as text and every block keeps the length of the
    longest row of all: the length is then part of what is computed.
    """
    lengths = np.array([len(row) for row in ids])
    order = np.argsort(-lengths, kind="stable") if masked else np.arange(len(ids))
    batch: Batch = {ROWS: torch.from_numpy(np.argsort(order))}
    whole = None if masked else encoder.pad(ids)["input_ids"]  # [N, L]
    for number, members in enumerate(np.array_split(order, min(LENGTH_GROUPS, len(ids)))):
        if whole is not None:
            tokens = {"input_ids": whole[torch.from_numpy(members)]}
        else:
            tokens = encoder.pad([ids[index] for index in members])
            if lengths[members[0]] == lengths[members[-1]]:
                tokens.pop(MASK)
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
