"""A file system that refuses: the interpreter's audit events see every operation before it is done."""

import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHANGES = {"os.rename", "os.mkdir", "os.chmod", "os.truncate", "os.remove", "os.rmdir"}
REMOVALS = {"os.remove", "os.rmdir"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass
class Refusal:
    """Acts before change number `at` (from 0; -1: never) of anything below `root` (None: of anything).

    seen: the changes so far as (event, path). act: raises the error or does other damage. for_good: acts
    before every later change as well.
    """

    root: Path | None
    act: Callable[[str], None] = lambda path: None
    at: int = -1
    for_good: bool = False
    seen: list[tuple[str, str]] = field(default_factory=list)

    def before(self, event: str, arguments: tuple[Any, ...]) -> None:
        path = arguments[0] if arguments else None
        if event == "open":
            if not isinstance(path, str | bytes | os.PathLike) or not (arguments[2] or 0) & WRITING:
                return
        elif event not in CHANGES:
            return
        if not isinstance(path, str | bytes | os.PathLike):
            return
        name = os.path.abspath(os.fsdecode(path))
        if self.root is None or name.startswith(f"{self.root}/"):
            self.seen.append((event, name))
            number = len(self.seen) - 1
            if number == self.at or (self.for_good and number > self.at >= 0):
                self.act(name)


_active: list[Refusal] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    for refusal in _active:
        refusal.before(event, arguments)


@contextmanager
def refusing(refusal: Refusal) -> Iterator[Refusal]:
    """Lets `refusal` see the changes that the block makes."""
    if not _installed:
        sys.addaudithook(_hook)
        _installed.append(True)
    _active.append(refusal)
    try:
        yield refusal
    finally:
        _active.remove(refusal)


_installed: list[bool] = []
"""An audit hook stays for good, so that it is added once."""


def error(number: int) -> Callable[[str], None]:
    """Returns a function that raises the system's error of this number."""

    def act(path: str) -> None:
        raise OSError(number, os.strerror(number), path)

    return act


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Limits files to `size` bytes in the block, so a write fails in its middle, also in C and Rust."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
