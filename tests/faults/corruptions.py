"""Kinds of damage to a file, as functions, and the outcome of a command."""

import os
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple
from unittest.mock import patch

from harness.cli import main

PATIENCE = 20
"""Seconds after which a command counts as one that waits for ever, for a writer of a pipe for example."""

WAITING = (
    ": encoding the texts of ",
    ": opening ",
    ": checking ",
    ": loading libraries",
    ": reading the data ",
)
"""Of lines about an evaluation that takes longer than a second."""


def truncate(path: Path) -> None:
    """Keeps the first half."""
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    """Empties the file."""
    os.truncate(path, 0)


def insert_foreign_bytes(path: Path) -> None:
    """Inserts bytes into the middle that are not UTF-8."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + b"\xff\xfe" + content[len(content) // 2 :])


def make_folder(path: Path) -> None:
    """Replaces the file by an empty folder."""
    path.unlink()
    path.mkdir()


def make_pipe(path: Path) -> None:
    """Replaces the file by a named pipe without a writer."""
    path.unlink()
    os.mkfifo(path)


def make_loop(path: Path) -> None:
    """Replaces the file by a symbolic link to itself."""
    path.unlink()
    path.symlink_to(path.name)


def flip(seed: int) -> Callable[[Path], None]:
    """Returns a corruption that flips one bit, drawn by `seed` uniformly from the whole file."""

    def flip_one(path: Path) -> None:
        content = bytearray(path.read_bytes())
        draw = random.Random(f"{seed} {path.name} {len(content)}")
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        path.write_bytes(content)

    return flip_one


SHAPES: dict[str, Callable[[Path], None]] = {
    "emptied": empty,
    "not UTF-8": insert_foreign_bytes,
    "a folder": make_folder,
    "a pipe": make_pipe,
    "a loop of links": make_loop,
}
"""Damage that makes any file unreadable."""


class StillWaiting(BaseException):
    """Raised if a command waits forever; error handlers must not catch it."""


@contextmanager
def no_waiting(seconds: int = PATIENCE) -> Iterator[None]:
    """Raises StillWaiting if the block takes longer, even inside a system call."""

    def give_up(number: int, frame: FrameType | None) -> None:
        raise StillWaiting(f"after {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Ending(NamedTuple):
    """The outcome of a command; problem: description of a fault, empty if there is none."""

    code: int
    out: str
    problem: str


def ending_of(words: Sequence[str], captured: Any, accepted: Sequence[int] = (0,)) -> Ending:
    """Runs a command, which may end with an accepted exit code, or with 2 and exactly one printable line.
    captured: pytest's capture of the output.
    """
    captured.readouterr()
    try:
        with no_waiting(), patch("harness.commands.waiting.FIRST", 60.0):
            code = main(words)
    except SystemExit as left:
        code = int(left.code or 0)
    except (Exception, StillWaiting) as error:  # noqa: BLE001  # each is a finding, the others are tried too
        return Ending(-1, "", f"{type(error).__name__}: {str(error)[:200]}")
    out, err = captured.readouterr()
    if code != 2:
        return Ending(code, out, "" if code in accepted else f"exit code {code}, {err[:400]!r}")
    lines = [
        line
        for line in err.splitlines()
        if not (line.startswith("step ") or any(words in line for words in WAITING))
    ]
    refused = len(lines) == 1 and lines[0].startswith("sentbench: ") and lines[0].isprintable() and not out
    if refused:
        return Ending(code, out, "")
    return Ending(code, out, f"not one line: {len(err)} characters {err[:300]!r}, {out[:80]!r}")
