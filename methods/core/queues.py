"""A first-in-first-out queue of vectors that lives in registered buffers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from methods.core.errors import InputError


class VectorQueue(nn.Module):
    """The newest `size` vectors that were pushed, stored detached; part of the state dict.

    A ring buffer: a push that passes the end wraps and drops nothing but the oldest rows.
    Shapes: `ring` [size, width]; `next` the row of the next write; `count` filled rows.
    Errors: InputError if the size is not positive.
    """

    ring: Tensor
    next: Tensor
    count: Tensor

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        if size < 1:
            raise InputError(f"queue size {size}, expected at least 1; fix the recipe")
        self.register_buffer("ring", torch.zeros(size, width))
        self.register_buffer("next", torch.zeros((), dtype=torch.long))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))

    def __len__(self) -> int:
        return int(self.count)

    @property
    def size(self) -> int:
        return len(self.ring)

    @torch.no_grad()
    def push(self, vectors: Tensor) -> None:
        """Adds vectors [B, width] as the newest; of more than `size` only the last `size` stay."""
        kept = vectors.detach()[-self.size :].to(self.ring.dtype)
        rows = (int(self.next) + torch.arange(len(kept), device=self.ring.device)) % self.size
        self.ring[rows] = kept
        self.next.fill_((int(self.next) + len(kept)) % self.size)
        self.count.fill_(min(self.size, int(self.count) + len(kept)))

    def stored(self) -> Tensor:
        """Returns the filled rows in storage order, not copied; [count, width]."""
        return self.ring[: int(self.count)]

    def oldest_first(self) -> Tensor:
        """Returns the filled rows from oldest to newest; [count, width]."""
        if int(self.count) < self.size:
            return self.stored()
        return torch.roll(self.ring, -int(self.next), dims=0)

    def newest(self, count: int) -> Tensor:
        """Returns the newest `count` rows, or all there are, from oldest to newest; [<= count, width]."""
        return self.oldest_first()[max(0, len(self) - count) :]

    def newest_blocks(self, count: int) -> list[Tensor]:
        """Returns the rows of `newest(count)`, oldest first, as at most two slices: nothing is copied."""
        taken = min(count, len(self))
        start = (int(self.next) - taken) % self.size
        parts = [self.ring[start : start + taken], self.ring[: max(0, start + taken - self.size)]]
        return [part for part in parts if len(part)]

    def check_holds(self, batch: int) -> None:
        """Raises InputError if the queue cannot hold the `batch` vectors that one step brings."""
        if self.size < batch:
            raise InputError(
                f"queue of {self.size} vectors is smaller than the {batch} of one step, expected at least "
                "these, or 0 for no queue; fix the recipe"
            )

    def rows_beside(self, batch: int, *, holds_batch: bool) -> int:
        """Returns how many rows a step that brings `batch` vectors is compared with.

        holds_batch: the batch counts among `size`; off: it comes on top.
        Errors: InputError if the queue cannot hold what one step brings.
        """
        self.check_holds(batch)
        return self.size - batch if holds_batch else self.size
