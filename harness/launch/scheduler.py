"""The loop of a launch: begins stages whose dependencies are recorded, and records finished stages."""

import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from pathlib import Path
from types import FrameType
from typing import Any

from harness.errors import InputError
from harness.launch.failures import StageError, in_words
from harness.launch.pipeline import CHANGED, Pipeline
from harness.launch.worker import Ended, Executor, Job, LastingExecutor, last_line
from methods.core.progress import progress_bar

TICK = 0.5
"""Seconds between two checks for an interruption."""
STATES = ("done", "unchanged", "restored", "failed")


@dataclass
class Scheduler:
    """A pipeline, the executor that runs its commands, and the outcomes of its stages."""

    pipeline: Pipeline
    executor: Executor
    retries: int
    """Retries of a stage that the system ended; a stage that fails with an exit code is not repeated."""
    states: dict[str, str] = field(default_factory=dict)
    """Finished stages and their outcomes."""
    failed: dict[str, str] = field(default_factory=dict)
    """Failed stages -> the reason in one line."""
    interrupted: int = 0
    """The signal that interrupted the launch, or 0."""
    _running: dict[str, Job] = field(default_factory=dict)

    def run(self) -> None:
        """Runs all changed stages, each after its dependencies, until no further stage can run. A failed
        stage blocks only its dependents. An interruption ends running stages; finished ones are recorded.
        """
        order = self.pipeline.order
        graph = TopologicalSorter(order)
        graph.prepare()
        ranks = priorities(order)
        ready: list[str] = []
        with self._interruptible(), progress_bar(len(order), "stages") as bar:
            try:
                while not self.interrupted:
                    ready = sorted([*ready, *graph.get_ready()], key=ranks.__getitem__)
                    if not (ready or self._running):
                        break
                    over = self._begin(ready, bar)
                    ended = self.executor.wait(TICK) if self._running else []
                    graph.done(*over, *(job.stage for job in ended if self._ended_well(job)))
                    self.pipeline.dump(at_once=False)
                    bar.set_postfix_str(f"{len(self._running)} running", refresh=False)
                    bar.update(len(self.states) - bar.n)
            finally:
                self.executor.close()

    @property
    def skipped(self) -> list[str]:
        """Stages that were not finished: blocked by a failed one, or interrupted."""
        return [name for name in self.pipeline.order if name not in self.states]

    @property
    def summary(self) -> str:
        """The finished stages by outcome, in one line."""
        counts = Counter(self.states.values())
        parts = [f"{counts[outcome]} {outcome}" for outcome in STATES if counts[outcome]]
        return ", ".join([f"{len(self.states)} of {len(self.pipeline.order)} stages", *parts])

    def _begin(self, ready: list[str], bar: Any) -> list[str]:
        """Begins stages from the front of `ready` while slots are free; returns stages that need no run.

        bar: shows them at once, because many stages may need no run.
        """
        over = []
        while ready and len(self._running) < self.executor.slots and not self.interrupted:
            bar.update(len(self.states) - bar.n)
            name = ready.pop(0)
            lasting = self.executor if isinstance(self.executor, LastingExecutor) else None
            job = self.pipeline.job(name, with_inputs=lasting is not None)
            try:
                job.log.parent.mkdir(parents=True, exist_ok=True)
                job.log.open("a").close()
                adopted = lasting is not None and lasting.adopt(name, job.inputs)
                if adopted:
                    self.pipeline.adopt(name)
                state = CHANGED if adopted else self.pipeline.begin(name)
            except (StageError, OSError) as error:
                self._fail(name, in_words(error))
                continue
            if state != CHANGED:
                self.states[name] = state
                over.append(name)
                continue
            self._running[name] = job
            if not adopted:
                self.executor.submit(job)
        return over

    def _ended_well(self, ended: Ended) -> bool:
        job = self._running.pop(ended.stage)
        if ended.code is None and self.interrupted:  # the signal that reached the launch ended it too
            return False
        if ended.code is None and job.attempt <= self.retries:
            self._running[job.stage] = replace(job, attempt=job.attempt + 1)
            self.executor.submit(self._running[job.stage])
            return False
        if ended.code != 0:
            how = ended.reason if ended.code is None else f"exit code {ended.code}"
            self._fail(job.stage, f"{how}: {last_line(job.log)}" if last_line(job.log) else how)
            return False
        try:
            self.pipeline.finish(job.stage)
        except StageError as error:
            self._fail(job.stage, str(error))
            return False
        self.states[job.stage] = "done"
        return True

    def _fail(self, name: str, reason: str) -> None:
        self.failed[name] = reason
        self.states[name] = "failed"

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Defers SIGINT, SIGTERM and SIGHUP to the loop, so that they never interrupt DVC. A signal that is
        ignored stays ignored, as SIGHUP under nohup.
        """

        def interrupt(number: int, frame: FrameType | None) -> None:
            self.interrupted = number

        numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
        heard = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
        before = {number: signal.signal(number, interrupt) for number in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def priorities(order: dict[str, set[str]]) -> dict[str, tuple[int, int]]:
    """Returns a rank for each stage: longest chain of dependents first, ties in the given order."""
    chains = dict.fromkeys(order, 0)
    for name in reversed(order):
        for need in order[name]:
            chains[need] = max(chains[need], chains[name] + 1)
    return {name: (-chain, position) for position, (name, chain) in enumerate(chains.items())}


def stages_to_run(pipeline: Pipeline, known: Mapping[str, Mapping[Path, str]]) -> list[str]:
    """Returns the stages that have changed, and those that need one of them; without changes.

    known: the known outputs of stages, by stage: a stage runs again if one of these files differs from the
    file on disk. The list may be too long: a dependency may turn out unchanged, and the run cache may have a
    stage.
    Errors: InputError if a stage's state cannot be read.
    """
    changed: dict[str, None] = {}
    news = {name: differing(files) for name, files in known.items()}
    for name, needs in pipeline.order.items():
        reads = pipeline.reads[name]
        written = {path for need in changed.keys() & needs & news.keys() for path in news[need]}
        try:
            if (
                changed.keys() & (needs - news.keys())
                or any(reads & {path, *path.parents} for path in written)
                or pipeline.is_changed(name)
            ):
                changed[name] = None
        except StageError as error:
            raise InputError(f"{name}: {error}; see `dvc status`") from error
    return list(changed)


def differing(files: Mapping[Path, str]) -> list[Path]:
    """Returns the files whose content differs from these texts."""
    return [
        path
        for path, text in files.items()
        if not path.is_file() or path.read_text(encoding="utf-8", errors="replace") != text
    ]
