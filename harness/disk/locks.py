"""One process at a time where two would be in each other's way: the second waits or is refused."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import InputError
from harness.paths import cache


@contextmanager
def alone(work: str, *, wait: bool = False) -> Iterator[None]:
    """Holds the lock of a piece of work, named in words, while the block runs; it ends with the process.

    Errors: InputError at once if another process is at the same work, unless `wait`.
    """
    from filelock import FileLock, Timeout

    path = cache() / "locks" / f"{hashlib.sha256(work.encode()).hexdigest()[:16]}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"{work}: another process is at it, expected one at a time; wait until that one has ended"
        ) from None
    try:
        yield
    finally:
        lock.release()
