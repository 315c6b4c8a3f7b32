"""Batching of texts: at evaluation every unique text once, in training groups of similar length.

A loss still sees all rows of its batch at once, so grouping does not change the negatives of a contrastive
loss.
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
"""Allowed share of padded positions in a batch; the computing time includes padding."""

FULL_ENOUGH = 1 / 8
"""Share of the budget above which a batch ends at a change of length. Rows of equal length need no mask and
no packing, and at that size a smaller batch costs almost no time."""

LENGTH_GROUPS = 4
"""Number of groups of a batch; more groups save little padding and cost launches."""

ROWS = "rows"
"""Key of a grouped batch: the position of each row among the rows of all groups; [N] int64."""


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
    `max_padding` of them is padding. Once it fills FULL_ENOUGH of the budget, it ends at the next change of
    length.
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
    """Returns the rows as token blocks of similar length, and `rows` to restore their order.

    With `masked` each block is as long as its longest row, and carries a mask only if its rows differ in
    length. Without `masked` no block has a mask, so padding is read as text; every block is then padded to
    the longest row of the batch, because the length changes the result.
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
    """Returns the vectors of all rows in their original order, with one pass per group; [N, d].

    With `recompute` the activations of a group are dropped after the forward pass and recomputed under the
    same random state for its gradient: same values, memory of one group, one more forward pass.
    """
    blocks = [tokens for name, tokens in batch.items() if name != ROWS]
    if recompute:
        vectors = [checkpoint(encode, tokens, use_reentrant=False) for tokens in blocks]
    else:
        vectors = [encode(tokens) for tokens in blocks]
    return torch.cat(vectors)[batch[ROWS]]
