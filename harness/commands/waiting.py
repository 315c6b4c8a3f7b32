"""Lines on standard error about work that says nothing itself."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

FIRST, AGAIN = 0.8, 4.0
"""Seconds until the first line, and between two lines."""


@contextmanager
def waiting(what: str, *, bar: bool = False) -> Iterator[None]:
    """Says what the block does, if it takes longer than FIRST seconds, then every AGAIN seconds how long.
    bar: the block draws a bar on a terminal, where only the first line is said.
    """
    ended, started = threading.Event(), time.monotonic()

    def say() -> None:
        pause = FIRST
        while not ended.wait(pause):
            passed = f", {time.monotonic() - started:.0f} s" if pause == AGAIN else ""
            print(f"sentbench: {what}{passed}", file=sys.stderr, flush=True)
            if bar and sys.stderr.isatty():
                return
            pause = AGAIN

    thread = threading.Thread(target=say, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
