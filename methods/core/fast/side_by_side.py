"""Batches that do not need each other, several at once: no thread waits for the others after every operation.

All threads on one batch meet after each operation, so each waits for the slowest, and between operations one
works alone. A thread with a batch of its own takes the next when it is ready: a core that another process
shares does fewer batches, and holds up none. Values are those of one thread, whatever the number of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import torch

MOST = 8
"""Batches at once, because each has its own activations in memory; further threads help inside of a batch."""

AHEAD = 4
"""Items of each thread that are begun or done before the first of them is asked for; bounds their memory."""

Item = TypeVar("Item")
Made = TypeVar("Made")


def side_by_side(work: Callable[[Item], Made], items: Sequence[Item]) -> Iterator[Made]:
    """Yields what `work` makes of each item on a CPU, in their order, with torch's threads shared out evenly.

    Whether gradients are kept and autocast of the calling thread hold in all of them.
    Errors: the first that `work` raises; items that have not begun are left out then.
    """
    threads = torch.get_num_threads()
    workers = min(threads, len(items), MOST)
    if workers < 2:
        yield from map(work, items)
        return
    half = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    settings = threads // workers, torch.is_grad_enabled(), *half
    with ThreadPoolExecutor(workers, initializer=_begin, initargs=settings) as pool:
        pending: deque[Future[Made]] = deque()
        try:
            for item in items:
                if len(pending) == AHEAD * workers:
                    yield pending.popleft().result()
                pending.append(pool.submit(work, item))
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
            torch.set_num_threads(threads)  # a worker's number is also that of threads that begin later


def _begin(threads: int, grad: bool, half: bool, dtype: torch.dtype) -> None:
    """Gives a new thread its share of torch's threads and the modes of the one that started it."""
    torch.set_num_threads(threads)
    torch.set_grad_enabled(grad)
    torch.set_autocast_dtype("cpu", dtype)
    torch.set_autocast_enabled("cpu", half)
