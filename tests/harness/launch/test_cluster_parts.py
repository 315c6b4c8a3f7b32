"""Executors `slurm` and `ray`, each step alone: words of commands, states, waits, and what is cancelled."""

import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import InputError
from harness.launch.worker import Ended, Job

pytest.importorskip("submitit", reason="submitit is not installed: the extra launch-slurm")
from harness.launch import on_ray, on_slurm

FINAL = "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED GONE NODE_FAIL OUT_OF_MEMORY PREEMPTED REVOKED TIMEOUT"
GOES_ON = "PENDING RUNNING COMPLETING CONFIGURING SUSPENDED REQUEUED RESIZING STOPPED SIGNALING UNKNOWN"


@pytest.mark.parametrize("state", [*FINAL.split(), *GOES_ON.split()])
def test_a_job_in_a_final_state_of_slurm_never_runs_again(
    state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The states of squeue's manual; a job that is no longer listed is gone."""
    queue = on_slurm.Queue()
    monkeypatch.setattr(queue, "get_state", lambda job, mode="standard": state)
    assert queue.is_done("1") is (state in FINAL.split())


def test_states_are_asked_of_all_own_jobs_at_once_and_stay_without_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers: list[Any] = [(0, "12_0 RUNNING\n12_1 CANCELLED by 0\n9 PENDING\n"), (1, "no answer")]
    asked: list[list[str]] = []
    monkeypatch.setattr(on_slurm, "answer", lambda words: asked.append(words) or answers.pop(0))
    monkeypatch.setattr(on_slurm.time, "time", lambda: 1000.0)
    queue = on_slurm.Queue()
    assert queue._delay_s == 60
    queue._registered = {"12_0", "12_1", "13"}
    queue.update()
    expected = {"12_0": {"State": "RUNNING"}, "12_1": {"State": "CANCELLED by 0"}, "13": {"State": "GONE"}}
    assert queue._info_dict == expected
    queue.update()
    assert queue._info_dict == expected
    assert queue._last_status_check == 1000.0
    assert asked == [["squeue", "--me", "--states=all", "--array", "--noheader", "--format=%i %T"]] * 2


def test_a_request_is_only_tested_and_its_fault_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(on_slurm, "answer", lambda *given: asked.append(given) or (0, ""))
    on_slurm.check_request("script")
    assert asked == [(["sbatch", "--test-only"], "script")]
    monkeypatch.setattr(on_slurm, "answer", lambda *given: (1, "too many CPUs"))
    with pytest.raises(InputError, match=r"sbatch refuses the jobs: too many CPUs; correct --slurm"):
        on_slurm.check_request("script")


@pytest.mark.parametrize(
    ("partition", "has"), [(None, False), ("gpu", True), ("small", True)], ids=["default", "gpu", "named"]
)
def test_the_default_partition_is_marked_and_a_named_one_is_asked_alone(
    partition: str | None, has: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def answer(words: list[str]) -> tuple[int, str]:
        asked.append(words)
        return 0, "gpu gpu:a100:4\n" if partition else "cpu* (null)\ngpu gpu:a100:4\n"

    monkeypatch.setattr(on_slurm, "answer", answer)
    assert on_slurm.has_gpus(partition) is has
    assert asked == [["sinfo", "--noheader", "--format=%P %G", *([f"-p{partition}"] if partition else [])]]
    monkeypatch.setattr(on_slurm, "answer", lambda words: (0, "gpu* gpu:a100:4\n"))
    assert on_slurm.has_gpus(None)
    monkeypatch.setattr(on_slurm, "answer", lambda words: (127, "sinfo: missing"))
    with pytest.raises(InputError, match="--on slurm: sinfo: missing; run it on a node"):
        on_slurm.has_gpus(None)


@pytest.mark.parametrize(
    ("ended", "expected"),
    [
        ((0, "out", "err"), (0, "out")),
        ((1, "", "sbatch: error: no partition\nmore"), (1, "no partition")),
        ((1, "on stdout\n", ""), (1, "on stdout")),
        ((3, "", " \n"), (3, "exit code 3")),
    ],
)
def test_of_an_error_of_slurm_the_first_line_is_told(
    ended: tuple[int, str, str], expected: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = SimpleNamespace(returncode=ended[0], stdout=ended[1], stderr=ended[2])
    monkeypatch.setattr(on_slurm.subprocess, "run", lambda words, **options: made)
    assert on_slurm.answer(["sbatch"]) == expected

    def missing(words: list[str], **options: Any) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(on_slurm.subprocess, "run", missing)
    assert on_slurm.answer(["sbatch"]) == (127, "sbatch: No such file or directory")


class Clock:
    """Time that passes only while something sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.slept = 0.0, list[float]()
        monkeypatch.setattr(on_slurm.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(on_slurm.time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def executor(tmp_path: Path) -> Any:
    made: Any = object.__new__(on_slurm.SlurmExecutor)
    made._executors, made._queued, made._running, made._kept = {}, [], {}, {}
    made._record = tmp_path / "jobs.json"
    return made


@pytest.mark.parametrize(
    ("ends_at", "seconds", "slept"),
    [(0.0, 5.0, []), (3.0, 5.0, [2.0, 2.0]), (99.0, 5.0, [2.0, 2.0, 1.0]), (99.0, 0.5, [0.5])],
)
def test_the_files_of_jobs_are_looked_at_every_two_seconds_until_the_time_is_over(
    ends_at: float, seconds: float, slept: list[float], executor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    executor._running = {"a": SimpleNamespace(done=lambda: clock.now >= ends_at)}
    monkeypatch.setattr(executor, "_end", lambda stage: Ended(stage, 0))
    assert executor.wait(seconds) == ([Ended("a", 0)] if ends_at < 99 else [])
    assert clock.slept == slept


def test_jobs_are_recorded_before_those_of_another_kind_are_submitted(executor: Any) -> None:
    """A launch that is killed in between finds the first again."""

    def submitted(run: object, job: Any) -> Any:
        if job.stage == "b":
            raise KeyboardInterrupt
        return SimpleNamespace(job_id="12_0")

    slurm = SimpleNamespace(batch=nullcontext, submit=submitted)
    executor._executors = {False: slurm, True: slurm}
    executor._queued = [
        SimpleNamespace(stage=name, wants_gpu=name == "b", inputs="same") for name in ("a", "b")
    ]
    with pytest.raises(KeyboardInterrupt):
        executor._hand_over()
    assert json.loads(executor._record.read_text()) == {"a": {"job": "12_0", "inputs": "same"}}


@pytest.mark.parametrize(("ends_at", "kept"), [(0.0, {}), (5.0, {}), (999.0, {"a": 1})])
def test_cancelled_jobs_are_waited_for_a_minute_and_those_that_remain_are_kept(
    ends_at: float, kept: dict[str, Any], executor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, asked = Clock(monkeypatch), list[list[str]]()
    monkeypatch.setattr(on_slurm, "answer", lambda words: asked.append(words) or (0, ""))
    job = SimpleNamespace(job_id="12_0", done=lambda *, force_check: force_check and clock.now >= ends_at)
    executor._kept, executor._running = {"a": 1}, {"a": job}
    executor._queued = [Job("b", (), Path(), Path())]
    executor.close()
    assert asked == [["scancel", "--quiet", "12_0"]]
    assert executor._kept == kept
    assert (executor._queued, executor._running) == ([], {})
    assert sum(clock.slept) == pytest.approx(min(60.0, 2 * -(-ends_at // 2)))
    if not kept:
        assert json.loads(executor._record.read_text()) == {}
    asked.clear()
    executor.close()
    assert asked == [], "nothing to cancel"


def test_a_job_of_the_same_inputs_is_adopted_and_one_of_others_is_cancelled(
    executor: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cancelled: list[Any] = []
    executor._folder = tmp_path
    executor._kept = {"a": {"job": "12_0", "inputs": "same"}}
    monkeypatch.setattr(on_slurm.submitit, "SlurmJob", lambda *, folder, job_id: (folder, job_id))
    monkeypatch.setattr(executor, "_cancel", cancelled.append)
    assert not executor.adopt("b", "same")
    assert executor.adopt("a", "same")
    assert executor._running == {"a": (tmp_path, "12_0")}
    assert not cancelled
    assert not executor.adopt("a", "other")
    assert cancelled == [{"a": (tmp_path, "12_0")}]


@pytest.mark.parametrize("cpus", [None, "5"])
def test_a_slurm_job_has_the_threads_of_its_processors_and_the_jobs_own_variables(
    cpus: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in (("SLURM_CPUS_PER_TASK", cpus), ("SLURM_JOB_ID", "77")):
        monkeypatch.setenv(name, value or "")
        if value is None:
            monkeypatch.delenv(name)
    ran: list[Any] = []
    monkeypatch.setattr(on_slurm, "run_commands", lambda job, where: ran.append((job, where)) or 3)
    (tmp_path / "there").mkdir()
    job = Job("a", ("x",), tmp_path / "there", tmp_path / "log", {"OMP_WAIT_POLICY": "own", "MORE": "1"})
    assert on_slurm.run_in_job(job) == 3
    (made, where) = ran[0]
    assert where == "Slurm job 77"
    assert made.environment["OMP_NUM_THREADS"] == (cpus or "1")
    assert (made.environment["OMP_WAIT_POLICY"], made.environment["MORE"]) == ("own", "1")
    assert Path.cwd() == tmp_path / "there"


class Ray:
    """A module in Ray's place."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.exceptions = SimpleNamespace(RayError=KeyError)

    def cancel(self, task: str, *, force: bool) -> None:
        self.calls.append(("cancel", task, force))

    def wait(self, tasks: list[str], *, num_returns: int, timeout: float) -> tuple[list[str], list[str]]:
        self.calls.append(("wait", tasks, num_returns, timeout))
        return ([], tasks) if timeout == 0 else (tasks[:1], tasks[1:])

    def get(self, task: str) -> int:
        return {"task a": 4, "task b": -9}[task]

    def shutdown(self) -> None:
        self.calls.append("shutdown")

    def remote(self, function: Any) -> Any:
        def options(**given: Any) -> Any:
            self.calls.append(given)
            return SimpleNamespace(remote=lambda job, threads: self.calls.append(threads) or job.stage)

        return SimpleNamespace(options=options)


def test_a_stage_on_ray_has_its_share_is_waited_for_and_cancelled_by_force() -> None:
    """Ray's own retries would not be counted; a stage without a network takes no GPU."""
    executor: Any = object.__new__(on_ray.RayExecutor)
    executor._ray = ray = Ray()
    executor._cpus, executor._gpus, executor._running = 2.5, 0.5, {}
    for stage in ("train@a", "report"):
        executor.submit(Job(stage, (), Path(), Path()))
    assert ray.calls == [
        {"num_cpus": 2.5, "num_gpus": 0.5, "name": "train@a", "max_retries": 0},
        2,
        {"num_cpus": 2.5, "num_gpus": 0, "name": "report", "max_retries": 0},
        2,
    ]
    ray.calls.clear()
    executor._running = {"a": "task a", "b": "task b", "c": "task c"}
    assert executor.wait(0.5) == [Ended("a", 4)]
    assert ray.calls == [
        ("wait", ["task a", "task b", "task c"], 3, 0),
        ("wait", ["task a", "task b", "task c"], 1, 0.5),
    ]
    assert executor.wait(0.5) == [Ended("b", None, "ended by signal 9")]
    (lost,) = executor.wait(0.5)
    assert (lost.stage, lost.code) == ("c", None)
    assert lost.reason.startswith("KeyError: ")
    ray.calls.clear()
    executor._running = {"a": "task a", "b": "task b"}
    executor.close()
    assert ray.calls == [
        ("cancel", "task a", True),
        ("cancel", "task b", True),
        ("wait", ["task a", "task b"], 2, 10.0),
        "shutdown",
    ]
    ray.calls.clear()
    executor._running = {}
    executor.close()
    assert ray.calls == ["shutdown"]
