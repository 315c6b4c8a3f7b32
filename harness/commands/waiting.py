"""Lines on standard error about work that says nothing itself."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

FIRST, LATER = 1.0, 4.0
"""Seconds until the first line, and between two lines."""


@contextmanager
def waiting(what: str, *, again: bool = True) -> Iterator[None]:
    """Says what the block does, if it takes longer than FIRST seconds. again: whether it says every LATER
    seconds how long; not for a block that draws a bar."""
    ended, started = threading.Event(), time.monotonic()

    def say() -> None:
        if ended.wait(FIRST):
            return
        print(f"sentbench: {what}", file=sys.stderr, flush=True)
        while again and not ended.wait(LATER):
            print(f"sentbench: {what}, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    thread = threading.Thread(target=say, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
