"""Interface of scheduler and executors, and the process in which the commands of one stage run.

Their output goes to the stage's log. With executor `local` the process is forked from a server that has
imported the libraries of stages, and ends with the scheduler. A command of this project runs in this process,
which the kernel kills when its server ends, and the server ends with the scheduler; any other command is a
child that this process watches.
"""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import parent_process
from multiprocessing.connection import wait
from pathlib import Path
from typing import Protocol, runtime_checkable

from harness.paths import cache

SHELL_CHARACTERS = frozenset("|&;<>()$`\\\"'*?[]#~=%{}!\n")
"""Characters with a meaning to a shell."""
PR_SET_PDEATHSIG = 1
"""Option of prctl(2): the signal that a process gets when its parent ends."""
LIBC = ctypes.CDLL(None)
NO_SUCH_COMMAND = 127
SIGNAL_IN_SHELL = 128
"""A shell adds it to the number of the signal that ended its command, unless it became that command."""
OUR_COMMAND = "sentbench"
GONE = 255
"""Exit code of a process that was terminated or lost its server; its job is repeated."""
WITHOUT_NETWORK = frozenset(
    {"entries", "data", "backbone", "fingerprint", "fingerprint-data", "further", "report"}
)
"""Stages of dvc.yaml that run no network and need no GPU."""


@dataclass(frozen=True)
class Job:
    """The commands of one stage, run one after the other in `folder` until one fails."""

    stage: str
    commands: tuple[str, ...]
    folder: Path
    log: Path
    """Log file of all attempts, appended."""
    environment: dict[str, str] = field(default_factory=dict)
    """Environment variables in addition to the executor's."""
    inputs: str = ""
    """Hash of the commands and their inputs, for executors whose jobs outlive the scheduler."""
    attempt: int = 1

    @property
    def wants_gpu(self) -> bool:
        """Whether the stage uses a GPU if one is available."""
        return self.stage.partition("@")[0].rpartition(":")[2] not in WITHOUT_NETWORK


@dataclass(frozen=True)
class Ended:
    """A finished job."""

    stage: str
    code: int | None
    """Exit code of the command; None if a signal or the loss of its machine ended it."""
    reason: str = ""
    """Reason, if the system ended the job."""

    @classmethod
    def with_code(cls, stage: str, code: int) -> Ended:
        """Returns a finished job from its exit code, which is minus the signal if a signal ended it."""
        return cls(stage, code) if code >= 0 else cls(stage, None, f"ended by signal {-code}")


class Executor(Protocol):
    """Runs jobs in parallel."""

    @property
    def slots(self) -> int:
        """Number of parallel jobs."""

    def submit(self, job: Job) -> None:
        """Starts or queues a job."""

    def wait(self, seconds: float) -> list[Ended]:
        """Returns the jobs that have ended since the last call; waits up to `seconds` for the first."""

    def close(self) -> None:
        """Ends all jobs and returns when their processes are gone."""


@runtime_checkable
class LastingExecutor(Executor, Protocol):
    """An executor whose jobs outlive the scheduler."""

    def adopt(self, stage: str, inputs: str) -> bool:
        """Returns whether a job of an earlier launch has the same inputs; `wait` will return it."""


def is_ours(commands: Sequence[str]) -> bool:
    """Returns whether a stage is one command of this project without shell syntax."""
    return len(commands) == 1 and (words_of(commands[0]) or [""])[0] == OUR_COMMAND


def run_work(job: Job, device: str) -> None:
    """Runs the commands of a job and ends this process with the exit status of the last one. device: for the
    log.
    """
    os.setsid()
    os.chdir(job.folder)
    scheduler = parent_process()
    if is_ours(job.commands):
        end_with_parent()
        if scheduler and not scheduler.is_alive():
            sys.exit(1)
        os.environ.update(job.environment)
        from harness.cli import INTERRUPTED

        try:
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that Python cleans up
            with logged(job, device):
                code = run_in_process(job.commands[0])
        except KeyboardInterrupt:
            code = INTERRUPTED
        if code == INTERRUPTED:
            sys.exit(GONE)
    else:
        code = run_commands(job, device, scheduler=scheduler.sentinel if scheduler else None)
    if code < 0:
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


def run_in_process(command: str) -> int:
    """Runs a command of this project and returns its exit code. For native arithmetic a new process replaces
    this one.
    """
    from harness.cli import main
    from harness.process import RestartNeeded, allow_restart

    allow_restart()
    sys.argv = shlex.split(command)
    try:
        return main(sys.argv[1:])
    except RestartNeeded as needed:
        sys.stdout.flush()
        python = sys.executable
        os.execve(python, [python, "-P", "-m", "harness.cli", *sys.argv[1:]], needed.environment)


def words_of(command: str) -> list[str] | None:
    """Returns the words of a command, None if it needs a shell."""
    return None if SHELL_CHARACTERS & set(command) else shlex.split(command)


def run_commands(job: Job, device: str, *, scheduler: int | None = None) -> int:
    """Runs the commands of a job and returns the last exit code, or minus the signal that ended it.
    scheduler: a file descriptor that becomes readable when the scheduler has ended. This process and its
    group end then, so it leads its own process group.
    """
    with logged(job, device):
        code = 0
        for command in job.commands:
            code = run_in_shell(command, job.folder, {**os.environ, **job.environment}, scheduler)
            if code:
                break
    return code


def run_in_shell(
    command: str, folder: Path, environment: dict[str, str], scheduler: int | None = None
) -> int:
    """Runs one command and returns its exit code, or minus the signal that ended it; it ends with its
    parent."""
    words = words_of(command)
    by_shell = not words
    words = words or [os.environ.get("SHELL") or "/bin/sh", "-c", command]
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
    code = process.wait()
    ended_by = code - SIGNAL_IN_SHELL
    return -ended_by if by_shell and ended_by in set(signal.Signals) else code


def end_with_parent() -> None:
    """Asks the kernel to kill this process when its parent ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@contextmanager
def logged(job: Job, device: str) -> Iterator[None]:
    """Appends the output of this process and its children in the block to the log of a job."""
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
    """Redirects standard output and error, also of child processes, to a file while the block runs."""
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


def log_of(stage: str) -> Path:
    """Returns the log file of all attempts of a stage."""
    return cache() / "launch" / f"{re.sub(r'[^A-Za-z0-9@._-]', '-', stage)}.log"


def last_line(log: Path) -> str:
    """Returns the last line in a log that a command printed, or an empty string."""
    if not log.is_file():
        return ""
    lines: Sequence[str] = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line for line in reversed(lines) if line.strip() and not line.startswith("== ")), "")
