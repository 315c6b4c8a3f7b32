"""First-in-first-out queues of vectors in registered buffers."""

import torch
from torch import Tensor, nn

from methods.core.errors import InputError


class VectorQueue(nn.Module):
    """The newest `size` pushed vectors, detached; part of the state dict.

    A ring buffer: a push that passes the end wraps and drops only the oldest rows. The position of the next
    row and the number of filled rows are kept on the host, as extra state of the module.
    Shapes: `ring` [size, width].
    Errors: InputError if the size is not positive.
    """

    ring: Tensor

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        if size < 1:
            raise InputError(f"queue size {size}, expected at least 1")
        self.register_buffer("ring", torch.zeros(size, width))
        self._next = self._filled = 0

    def __len__(self) -> int:
        return self._filled

    def get_extra_state(self) -> Tensor:
        return torch.tensor([self._next, self._filled])

    def set_extra_state(self, state: Tensor) -> None:
        self._next, self._filled = state.tolist()

    @property
    def size(self) -> int:
        return len(self.ring)

    @torch.no_grad()
    def push(self, vectors: Tensor) -> None:
        """Adds vectors [B, width] as the newest rows; of more than `size` only the last `size` are kept."""
        kept = vectors.detach()[-self.size :]
        before_end = min(len(kept), self.size - self._next)
        self.ring[self._next : self._next + before_end] = kept[:before_end]
        self.ring[: len(kept) - before_end] = kept[before_end:]
        self._next = (self._next + len(kept)) % self.size
        self._filled = min(self.size, self._filled + len(kept))

    def stored(self) -> Tensor:
        """Returns the filled rows in storage order, not copied; [count, width]."""
        return self.ring[: self._filled]

    def newest(self, count: int) -> Tensor:
        """Returns the newest `count` rows, or all, from oldest to newest; [<= count, width]."""
        return torch.cat([self.ring[:0], *self.newest_blocks(count)])

    def newest_blocks(self, count: int) -> list[Tensor]:
        """Returns the rows of `newest(count)`, oldest first, as at most two slices without a copy."""
        taken = min(count, len(self))
        start = (self._next - taken) % self.size
        parts = [self.ring[start : start + taken], self.ring[: max(0, start + taken - self.size)]]
        return [part for part in parts if len(part)]

    def check_holds(self, batch: int) -> None:
        """Raises InputError if the queue cannot hold the `batch` vectors of one step."""
        if self.size < batch:
            raise InputError(
                f"queue of {self.size} vectors is smaller than a batch of {batch}; use at least {batch}, "
                f"or 0 for no queue"
            )

    def rows_beside(self, batch: int, *, holds_batch: bool) -> int:
        """Returns the most rows compared in addition to the `batch` vectors of a step, which must fit.

        holds_batch: whether `size` includes the batch; off: it comes on top.
        """
        self.check_holds(batch)
        return self.size - batch if holds_batch else self.size


class BatchQueue(VectorQueue):
    """The newest pushed batches; whole batches are dropped until the others fit into `size` rows.

    Source: PT-BERT's released code, whose queue is a list of at most q batches. The rows equal that list if
    `size` is q times the batch size and at most one of any q + 1 batches is incomplete. The extra state also
    has the number of rows of each batch, oldest first, then zeros.
    """

    def __init__(self, size: int, width: int) -> None:
        super().__init__(size, width)
        self._batches: list[int] = []

    def get_extra_state(self) -> Tensor:
        lengths = self._batches + [0] * (self.size - len(self._batches))
        return torch.cat([super().get_extra_state(), torch.tensor(lengths)])

    def set_extra_state(self, state: Tensor) -> None:
        super().set_extra_state(state[:2])
        self._batches = [length for length in state[2:].tolist() if length]

    def push(self, vectors: Tensor) -> None:
        """Adds vectors [B, width] as the newest batch; of more than `size` only the last `size` are kept."""
        super().push(vectors)
        lengths = [*self._batches, *([min(len(vectors), self.size)] if len(vectors) else [])]
        self._batches = _last_within(lengths, self.size)
        self._filled = sum(self._batches)

    def stored(self) -> Tensor:
        """Returns the rows of the kept batches, oldest first; [count, width]."""
        return self.newest(len(self))

    def newest_blocks(self, count: int) -> list[Tensor]:
        """Returns the newest whole batches with at most `count` rows in total, as at most two slices."""
        return super().newest_blocks(sum(_last_within(self._batches, count)))


def _last_within(lengths: list[int], rows: int) -> list[int]:
    """Returns the longest tail of the lengths with a sum of at most `rows`."""
    while sum(lengths) > rows:
        lengths = lengths[1:]
    return lengths
