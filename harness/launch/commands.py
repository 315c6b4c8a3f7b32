"""The commands of a stage in a process of their own, what they print in the stage's log."""

from __future__ import annotations

import ctypes
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import wait
from pathlib import Path

from harness.launch.job import Job

SHELL_CHARACTERS = frozenset("|&;<>()$`\\\"'*?[]#~=%{}!\n")
"""What a shell may read as more than text."""
PR_SET_PDEATHSIG = 1
"""Of prctl(2): the signal that a process gets when the one that forked it ends."""
LIBC = ctypes.CDLL(None)
NO_SUCH_COMMAND = 127


def words_of(command: str) -> list[str] | None:
    """Returns the words of a command, None if it takes a shell to read them."""
    return None if SHELL_CHARACTERS & set(command) else shlex.split(command)


def run_commands(job: Job, device: str, *, scheduler: int | None = None) -> int:
    """Returns the exit code of the last command of a job that ran, minus the signal if one ended it.

    scheduler: what becomes readable when the scheduler has ended. This process and all of its group end then,
    so it leads a group of its own.
    """
    with logged(job, device):
        code = 0
        for command in job.commands:
            code = run_command(command, job.folder, {**os.environ, **job.environment}, scheduler)
            if code:
                break
    return code


def run_command(command: str, folder: Path, environment: dict[str, str], scheduler: int | None = None) -> int:
    """Returns the exit code of one command, minus the signal if one ended it; it ends with its parent."""
    words = words_of(command) or [os.environ.get("SHELL") or "/bin/sh", "-c", command]
    try:
        process = subprocess.Popen(words, cwd=folder, env=environment, preexec_fn=end_with_parent)
    except FileNotFoundError as error:
        print(f"{error.filename}: no such command", file=sys.stderr, flush=True)
        return NO_SUCH_COMMAND
    ended = os.pidfd_open(process.pid)
    wait([ended] if scheduler is None else [ended, scheduler])
    os.close(ended)
    if scheduler is not None and process.poll() is None:
        os.killpg(0, signal.SIGKILL)
    return process.wait()


def end_with_parent() -> None:
    """Asks the kernel to kill this process when the one that forked it ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@contextmanager
def logged(job: Job, device: str) -> Iterator[None]:
    """Appends what this process and its children print in the block to the log of a job."""
    job.log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with job.log.open("a", encoding="utf-8", buffering=1) as log:
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        log.write(f"== attempt {job.attempt} on {socket.gethostname()}, {device}, {now}\n")
        try:
            with redirected(log.fileno()):
                yield
        finally:
            log.write(f"== ended after {time.monotonic() - started:.1f} s\n")


@contextmanager
def redirected(file: int) -> Iterator[None]:
    """Sends standard output and error to a file while the block runs, also those of children."""
    kept = [(stream, os.dup(stream)) for stream in (1, 2)]
    try:
        for stream, _ in kept:
            os.dup2(file, stream)
        yield
    finally:
        for output in (sys.stdout, sys.stderr):
            output.flush()
        for stream, copy in kept:
            os.dup2(copy, stream)
            os.close(copy)


def last_line(log: Path) -> str:
    """Returns the last line in a log that a command printed, empty if there is none."""
    if not log.is_file():
        return ""
    lines: Sequence[str] = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line for line in reversed(lines) if line.strip() and not line.startswith("== ")), "")
