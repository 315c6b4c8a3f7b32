"""Inter-process locks."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import InputError
from harness.paths import cache


@contextmanager
def alone(work: str, *, wait: bool = False, shown: str = "") -> Iterator[None]:
    """Holds the lock named `work` while the block runs; the lock ends with the process.

    Errors: InputError at once if another process holds the lock, unless `wait`; it names `shown`, or `work`.
    """
    from filelock import FileLock, Timeout

    path = cache() / "locks" / f"{hashlib.sha256(work.encode()).hexdigest()[:16]}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(f"{shown or work}: already running in another process") from None
    try:
        yield
    finally:
        lock.release()
