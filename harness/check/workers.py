"""Jobs in processes that are forked from this one, so each starts with the libraries that are loaded here.

Loading torch and transformers takes seconds, a fork milliseconds. A job's processes end with this one.
"""

import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import TextIOBase
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, NamedTuple

from harness.errors import InputError

SILENCE = 4.0
"""Seconds without a message after which `Workers.messages` says what it waits for."""
DEATH_SIGNAL = 1
"""Option of Linux' prctl(2): the signal that a process gets when its parent ends."""
Send = Callable[[Any], None]


class ForkedJob(NamedTuple):
    """A job: what performs it, which may send values before it returns its result, and the jobs it needs."""

    name: str
    perform: Callable[[Send], Any]
    needs: Collection[str] = ()


class Message(NamedTuple):
    """What a job says: that it started, a line of its output, a value that it sends, its result or its error.
    Of no job: that nothing was said for SILENCE seconds, with the names of the jobs that run.
    """

    job: str
    kind: Literal["started", "line", "sent", "result", "error", "waits"]
    value: Any = None


class Workers:
    """Performs jobs, each in a process with one thread; leaving the block ends what still runs.

    at_once: largest number of processes; default: one for each core.
    """

    def __init__(self, at_once: int | None = None) -> None:
        self.at_once = at_once or cores()
        self._waiting: list[ForkedJob] = []
        self._done: set[str] = set()
        self._running: dict[Connection, tuple[ForkedJob, Any]] = {}

    def __enter__(self) -> "Workers":
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # its threads do not survive a fork
        return self

    def __exit__(self, *raised: object) -> None:
        for _, process in self._running.values():
            process.kill()
        for _, process in self._running.values():
            process.join()
        self._running.clear()

    def add(self, *jobs: ForkedJob) -> None:
        """Adds jobs, which start in this order, but not before the jobs they need have ended."""
        self._waiting += jobs

    def drop(self) -> None:
        """Forgets the jobs that have not started."""
        self._waiting.clear()

    def messages(self) -> Iterator[Message]:
        """Starts jobs and yields what they say until all have ended; jobs may be added between messages."""
        while self._waiting or self._running:
            for job in self._startable():
                yield self._start(job)
            ready = wait([*self._running], SILENCE)
            if not ready:
                yield Message("", "waits", [job.name for job, _ in self._running.values()])
            for connection in ready:
                assert isinstance(connection, Connection)
                yield self._received(connection)

    def _startable(self) -> list[ForkedJob]:
        ready = [job for job in self._waiting if self._done.issuperset(job.needs)]
        chosen = ready[: self.at_once - len(self._running)]
        assert chosen or self._running, f"jobs without what they need: {self._waiting}"
        return chosen

    def _start(self, job: ForkedJob) -> Message:
        receiver, sender = get_context("fork").Pipe(duplex=False)
        process = get_context("fork").Process(target=_perform, args=(job, sender), daemon=True)
        process.start()
        sender.close()
        self._waiting.remove(job)
        self._running[receiver] = job, process
        return Message(job.name, "started")

    def _received(self, connection: Connection) -> Message:
        job, process = self._running[connection]
        try:
            kind, value = connection.recv()
        except EOFError:
            process.join()
            kind, value = "error", InputError(f"{job.name}: its process ended with {process.exitcode}")
        if kind in ("result", "error"):
            del self._running[connection]
            process.join()
            connection.close()
            self._done.add(job.name)
        return Message(job.name, kind, value)


def cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def preload() -> None:
    """Imports what trainings and evaluations need, before the forks."""
    import transformers.models.bert.modeling_bert
    import transformers.models.bert.tokenization_bert  # noqa: F401

    import methods.core.trainer  # noqa: F401


class _Lines(TextIOBase):
    """A stream that sends each line of what is written to it."""

    def __init__(self, send: Send) -> None:
        self._send, self._rest = send, ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).replace("\r", "\n").split("\n")
        for line in lines:
            self._send(line)
        return len(text)


def _perform(job: ForkedJob, connection: Connection) -> None:
    """The process of a job. Interrupts are left to its parent, which ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)
    import torch

    torch.set_num_threads(1)
    lines = _Lines(lambda line: connection.send(("line", line)))
    try:
        with redirect_stdout(lines), redirect_stderr(lines):
            result = job.perform(lambda value: connection.send(("sent", value)))
    except InputError as error:
        connection.send(("error", error))
    except OSError as error:
        connection.send(("error", OSError(error.errno, error.strerror, error.filename)))
    except BaseException:  # noqa: BLE001 - the parent raises it
        connection.send(("error", RuntimeError(f"{job.name}:\n{traceback.format_exc()}")))
    else:
        connection.send(("result", result))
