"""The loop of a launch, step by step, with a pipeline and an executor in memory."""

import signal
from pathlib import Path
from typing import Any

import pytest

from harness.launch.failures import StageError
from harness.launch.pipeline import CHANGED
from harness.launch.scheduler import Scheduler, priorities
from harness.launch.worker import Ended, Job


class Stages:
    """A pipeline in memory: a before b, c alone; what happens at each stage is given by its name."""

    def __init__(self, folder: Path, **states: str) -> None:
        self.order: dict[str, set[str]] = {"c": set(), "a": set(), "b": {"a"}}
        self.states, self.folder = states, folder
        self.begun: list[str] = []
        self.finished: list[str] = []
        self.dumped: list[bool] = []

    def job(self, name: str, *, with_inputs: bool) -> Job:
        return Job(
            name, ("true",), self.folder, self.folder / "logs" / f"{name}.log", inputs=str(with_inputs)
        )

    def begin(self, name: str) -> str:
        self.begun.append(name)
        if self.states.get(name) == "refused":
            raise StageError(f"{name} lacks its input")
        return {"without output": CHANGED}.get(state := self.states.get(name, CHANGED), state)

    def finish(self, name: str) -> None:
        if self.states.get(name) == "without output":
            raise StageError(f"{name} has no output")
        self.finished.append(name)

    def dump(self, *, at_once: bool = True) -> None:
        self.dumped.append(at_once)


class Runs:
    """An executor whose jobs end at once, each with the codes that are given by its name."""

    def __init__(self, slots: int = 2, **codes: list[int | None]) -> None:
        self.slots, self.codes = slots, codes
        self.waiting: list[Job] = []
        self.started: list[tuple[str, int]] = []
        self.most = 0
        self.closed = False

    def submit(self, job: Job) -> None:
        self.waiting.append(job)
        self.started.append((job.stage, job.attempt))
        self.most = max(self.most, len(self.waiting))

    def wait(self, seconds: float) -> list[Ended]:
        job = self.waiting.pop(0)
        code = (self.codes.get(job.stage) or [0]).pop(0)
        return [Ended(job.stage, code, "" if code is not None else "its machine is gone")]

    def close(self) -> None:
        self.closed = True


def launched(pipeline: Any, executor: Any, retries: int = 2) -> Scheduler:
    made = Scheduler(pipeline, executor, retries)
    made.run()
    assert executor.closed
    return made


def test_stages_run_after_their_needs_and_the_longest_chain_first(tmp_path: Path) -> None:
    pipeline, executor = Stages(tmp_path), Runs(slots=1)
    ended = launched(pipeline, executor)
    assert pipeline.begun == pipeline.finished == ["a", "c", "b"]
    assert (executor.most, ended.summary, ended.skipped) == (1, "3 of 3 stages, 3 done", [])
    assert pipeline.dumped == [False] * 3
    assert (tmp_path / "logs/a.log").is_file(), "the scheduler makes the log, so that a full disk is named"
    assert priorities({"x": set(), "y": set(), "z": {"y"}}) == {"x": (0, 0), "y": (-1, 1), "z": (0, 2)}


@pytest.mark.parametrize(("retries", "attempts"), [(0, 1), (1, 2), (2, 3)])
def test_a_stage_that_the_system_ended_is_repeated_as_often_as_asked(
    retries: int, attempts: int, tmp_path: Path
) -> None:
    executor = Runs(a=[None] * 9)
    ended = launched(Stages(tmp_path), executor, retries)
    assert [number for name, number in executor.started if name == "a"] == [*range(1, attempts + 1)]
    assert ended.failed == {"a": "its machine is gone"}
    assert (ended.skipped, ended.states) == (["b"], {"a": "failed", "c": "done"})
    executor = Runs(a=[None, 0])
    assert not launched(Stages(tmp_path), executor, 1).failed


def test_a_stage_that_fails_is_not_repeated_and_its_last_line_is_the_reason(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/a.log").write_text("== attempt 1\nfirst\nno such corpus\n \n== ended after 1.0 s\n")
    executor = Runs(a=[3, 0], c=[1])
    ended = launched(Stages(tmp_path), executor)
    assert ended.failed == {"a": "exit code 3: no such corpus", "c": "exit code 1"}
    assert sorted(executor.started) == [("a", 1), ("c", 1)]
    assert ended.summary == "2 of 3 stages, 2 failed"


def test_a_stage_that_cannot_begin_or_be_recorded_blocks_only_its_dependents(tmp_path: Path) -> None:
    refused = Stages(tmp_path, a="refused")
    ended = launched(refused, Runs())
    assert (ended.failed, refused.finished) == ({"a": "a lacks its input"}, ["c"])
    ended = launched(Stages(tmp_path, a="without output"), Runs())
    assert (ended.failed, ended.skipped) == ({"a": "a has no output"}, ["b"])


def test_unchanged_and_restored_stages_run_nothing(tmp_path: Path) -> None:
    executor = Runs()
    ended = launched(Stages(tmp_path, a="unchanged", c="restored"), executor)
    assert executor.started == [("b", 1)]
    assert ended.summary == "3 of 3 stages, 1 done, 1 unchanged, 1 restored"


def test_a_signal_ends_the_launch_and_what_it_ended_is_not_repeated(tmp_path: Path) -> None:
    class Interrupted(Runs):
        def wait(self, seconds: float) -> list[Ended]:
            signal.raise_signal(signal.SIGTERM)
            return super().wait(seconds)

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    executor = Interrupted(a=[None])
    ended = launched(Stages(tmp_path), executor)
    assert ended.interrupted == signal.SIGTERM
    assert executor.started == [("a", 1), ("c", 1)]
    assert ended.failed == {}
    assert ended.skipped == ["c", "a", "b"]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_ignored_signal_stays_ignored_as_under_nohup(number: signal.Signals, tmp_path: Path) -> None:
    class Interrupted(Runs):
        def wait(self, seconds: float) -> list[Ended]:
            signal.raise_signal(number)
            return super().wait(seconds)

    before = signal.signal(number, signal.SIG_IGN)
    try:
        ended = launched(Stages(tmp_path), Interrupted())
    finally:
        signal.signal(number, before)
    assert (ended.interrupted, ended.skipped, ended.summary) == (0, [], "3 of 3 stages, 3 done")


@pytest.mark.parametrize("lasting", [True, False])
def test_inputs_are_hashed_only_for_jobs_that_outlive_the_launch(lasting: bool, tmp_path: Path) -> None:
    """An adopted job is not started; its stage counts as begun."""
    asked: list[tuple[str, str]] = []
    pipeline = Stages(tmp_path)

    class Lasting(Runs):
        def adopt(self, stage: str, inputs: str) -> bool:
            asked.append((stage, inputs))
            if stage == "c":
                self.waiting.append(pipeline.job(stage, with_inputs=True))
            return stage == "c"

    begun: list[str] = []
    pipeline.adopt = begun.append  # type: ignore[attr-defined]
    executor = Lasting() if lasting else Runs()
    assert not launched(pipeline, executor).failed
    assert asked == ([("a", "True"), ("c", "True"), ("b", "True")] if lasting else [])
    assert begun == ["c"] * lasting
    assert ("c" in pipeline.begun) is not lasting
    assert (("c", 1) in executor.started) is not lasting
