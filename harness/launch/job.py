"""What a scheduler and an executor say to each other: a command to run, and how it ended."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from harness.errors import InputError

WITHOUT_NETWORK = frozenset({"entries", "data", "fingerprint", "fingerprint-data", "report"})
"""Stages of dvc.yaml that compute with no network, so that they are given no GPU."""


@dataclass(frozen=True)
class Job:
    """The commands of one stage, run one after the other in `folder` until one fails."""

    stage: str
    commands: tuple[str, ...]
    folder: Path
    log: Path
    """Where all attempts write what they print, one after the other."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables that the commands have besides those of the executor."""
    inputs: str = ""
    """Hash of the commands and of all that they read, for executors whose jobs outlive the scheduler."""
    attempt: int = 1

    @property
    def kind(self) -> str:
        """The stage's name without its key: `train` of `train@KEY`."""
        return self.stage.partition("@")[0]

    @property
    def wants_gpu(self) -> bool:
        """Whether the stage computes on a GPU where there is one."""
        return self.kind.rpartition(":")[2] not in WITHOUT_NETWORK


@dataclass(frozen=True)
class Ended:
    """A job that runs no longer."""

    stage: str
    code: int | None
    """The exit code of the command; None if the system ended it: a signal, or its machine is gone."""
    reason: str = ""
    """What the system did, where it did something."""

    @classmethod
    def with_code(cls, stage: str, code: int) -> Ended:
        """Returns the end of a job by its exit code, which is minus the signal if one ended it."""
        return cls(stage, code) if code >= 0 else cls(stage, None, f"ended by signal {-code}")


class Executor(Protocol):
    """Something that runs jobs side by side."""

    @property
    def slots(self) -> int:
        """How many jobs it takes at once."""

    def submit(self, job: Job) -> None:
        """Starts a job, or queues it where the executor has a queue."""

    def wait(self, seconds: float) -> list[Ended]:
        """Returns the jobs that have ended since the last call; waits for at most this long if none has."""

    def close(self) -> None:
        """Ends all that runs and returns when nothing of it is left."""


@runtime_checkable
class LastingExecutor(Executor, Protocol):
    """An executor whose jobs outlive the scheduler."""

    def adopt(self, stage: str, inputs: str) -> bool:
        """Returns whether a work of an earlier launch has the same inputs; `wait` will return its end."""


def imported(name: str, *, extra: str) -> Any:
    """Returns a package of an optional extra; InputError, which names the extra, if it is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise InputError(
            f"{name} is not installed, expected it for this executor; run `{sys.executable} -m pip install "
            f"'.[{extra}]'` in the project's folder"
        ) from None
