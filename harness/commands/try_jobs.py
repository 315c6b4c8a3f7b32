"""The laws of a trial and its runs, which are checked and trained at the same time."""

import sys
import time
from pathlib import Path
from typing import NamedTuple

from harness.check.laws import WITHOUT_TRAINING, Law
from harness.check.workers import ForkedJob, Message, Workers, preload
from harness.commands.try_runs import Session
from harness.commands.waiting import waiting
from harness.errors import InputError
from harness.models.read import read_encoder
from harness.process import quiet

LAWS_JOB = "the laws"
"""The job that checks the laws."""


class Done(NamedTuple):
    """What was done: the laws in their order, the number of runs that were started, and a line for each
    control that could not be trained.
    """

    laws: list[Law]
    started: int
    failed: list[str]


def perform(session: Session) -> Done:
    """Checks the laws, and trains and evaluates the remaining runs of a trial, one process for each core.

    Runs start when the laws hold that train nothing, and end when another one fails. Prints each law and
    each evaluation. Errors: InputError of the first run of a system that fails.
    """
    with waiting("loading libraries and the encoder"):
        quiet()
        preload()
        first = next(iter(session.params.runs.values()))
        read_encoder(Path(first.backbone), pooling=first.pooling)
    with Workers() as workers:
        progress = _Progress(session, workers)
        workers.add(ForkedJob(LAWS_JOB, session.check_laws))
        for message in workers.messages():
            progress.take(message)
            if progress.is_over():
                break
    return progress.done()


class _Progress:
    """What the jobs of a trial have said so far."""

    def __init__(self, session: Session, workers: Workers) -> None:
        self.session, self.workers = session, workers
        self.jobs = {key: ForkedJob(key, session.job(key), session.needs(key)) for key in session.remaining()}
        self.laws: list[Law] = []
        self.checked = False
        self.started: list[str] = []
        self.ended, self.since = 0, time.monotonic()
        self.errors: list[InputError] = []
        self.failed: list[str] = []

    def take(self, message: Message) -> None:
        """Prints a message, and starts the runs after the laws that train nothing."""
        if message.kind == "waits":
            _note(f"sentbench: waiting for {', '.join(message.value)}")
        elif message.kind == "error":
            self._take_error(message)
        elif message.job == LAWS_JOB:
            self._take_law(message)
        elif message.kind == "started":
            self._take_start(message.job)
        elif message.kind == "line":
            _note(f"{message.job}  {message.value}")
        else:
            self.ended += message.kind == "result"

    def is_over(self) -> bool:
        """Returns whether no message can change the outcome."""
        return self.checked and bool(self.errors or any(law.fault for law in self.laws))

    def done(self) -> Done:
        """Returns the outcome. Errors: InputError of a run, unless a law says what is wrong."""
        if self.errors and not any(law.fault for law in self.laws):
            raise self.errors[0]
        return Done(self.laws, len(self.started), self.failed)

    def _take_law(self, message: Message) -> None:
        if message.kind == "line":
            _note(message.value)
        self.checked = message.kind == "result"
        if message.kind != "sent":
            return
        law: Law = message.value
        self.laws.append(law)
        if law.ran:
            print(f"FAILS  {law.name}: {law.fault}" if law.fault else f"holds  {law.name}", flush=True)
        if len(self.laws) == WITHOUT_TRAINING and not any(law.fault for law in self.laws):
            self.workers.add(*self.jobs.values())

    def _take_start(self, key: str) -> None:
        self.started.append(key)
        passed, left = time.monotonic() - self.since, len(self.jobs) - self.ended
        words = f", about {passed / self.ended * left:.0f} s left" if self.ended else ""
        if key in self.session.untrained:
            number = self.session.untrained.index(key) + 1
            _note(f"[{number}/{len(self.session.untrained)}] {key}{words}")

    def _take_error(self, message: Message) -> None:
        """A control that fails is a line of the result; for another run the laws are waited for, which may
        say what is wrong.
        """
        if not isinstance(message.value, InputError) or message.job == LAWS_JOB:
            raise message.value
        if self.session.is_control(message.job):
            self.ended += 1
            self.failed.append(f"{message.job} could not be trained: {message.value}")
        else:
            self.errors.append(message.value)
            self.workers.drop()


def _note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
