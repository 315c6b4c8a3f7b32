"""Stages as Slurm jobs, with submitit's mock of a cluster; this process runs the jobs' commands."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.launch.pipeline import open_pipeline
from harness.launch.scheduler import Scheduler
from harness.launch.worker import Ended
from tests.harness.launch.toy_pipeline import repro, runs, stage, write_pipeline

pytest.importorskip("submitit", reason="submitit is not installed: the extra launch-slurm")
from harness.launch import on_slurm
from harness.launch.on_slurm import SlurmExecutor, parameters, read_jobs, read_options

STAGES = {name: stage(name) for name in "ab"} | {"c": stage("c", ("a.txt", "b.txt"))}


def test_options_are_names_with_values() -> None:
    assert read_options("partition=gpu,time=240") == {"partition": "gpu", "time": "240"}
    assert read_options("") == {}
    for text in ("gpu", "time=", "=x", "Partition=gpu"):
        with pytest.raises(InputError, match="expected NAME=VALUE, separated by commas"):
            read_options(text)


def test_a_job_has_whole_processors_and_gpus_and_minutes() -> None:
    assert parameters({"partition": "gpu", "time": "240"}, 4, 1, 8) == {
        "name": "sentbench",
        "timeout_min": 240,
        "cpus_per_task": 4,
        "gpus_per_node": 1,
        "slurm_array_parallelism": 8,
        "slurm_srun_args": ["--cpus-per-task=4"],
        "slurm_additional_parameters": {"partition": "gpu"},
    }
    with pytest.raises(InputError, match="Slurm allocates whole ones; to share a GPU run Ray inside"):
        parameters({}, 1, 0.5, 8)
    with pytest.raises(InputError, match="time=4h: expected whole minutes"):
        parameters({"time": "4h"}, 1, 1, 8)


@pytest.fixture(scope="module")
def serial_lock(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The dvc.lock that a serial `dvc repro` writes."""
    folder = write_pipeline(tmp_path_factory.mktemp("serial") / "toy", STAGES)
    repro(folder)
    return (folder / "dvc.lock").read_bytes()


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A mock of Slurm, in whose first array the two first stages of a pipeline are jobs 12_0 and 12_1."""
    from submitit.slurm.test_slurm import mocked_slurm

    monkeypatch.chdir(write_pipeline(tmp_path / "toy", STAGES))
    with mocked_slurm() as mock:
        monkeypatch.setattr(on_slurm, "answer", partial(answer, mock))
        yield mock


def answer(mock: Any, words: list[str], text: str = "") -> tuple[int, str]:
    """The mock's answers to commands it does not know; sacct lists its jobs."""
    if words[0] == "squeue":
        rows = [line.split("|") for line in mock.sacct([]).splitlines()]
        return 0, "\n".join(f"{job} {state}" for job, state in rows if job[-1].isdigit() and "." not in job)
    if words[0] == "scancel":
        mock.scancel(words[2:])
    return 0, ""


class Cluster(SlurmExecutor):
    """The executor with a cluster whose jobs run when they are looked at, as `happens` says by job."""

    def __init__(self, mock: Any, happens: dict[str, str]) -> None:
        super().__init__({"partition": "gpu"}, 4, 2, 1)
        self.mock, self.happens, self.seen = mock, happens, []

    def wait(self, seconds: float) -> list[Ended]:
        refused = self._hand_over()
        for job in list(self._running.values()):
            state = self.happens.get(job.job_id, "COMPLETED")
            self.seen.append((job.job_id, state))
            if state == "COMPLETED":
                self.run(job)
            self.mock.job_sacct.pop(job.job_id.split("_")[0], None)
            self.mock.set_job_state(job.job_id, state)
            job.watcher.update()
        return [*refused, *super().wait(0)]

    def run(self, job: Any) -> None:
        from submitit.core import submission

        if not job.paths.result_pickle.exists():
            with self.mock.job_context(job.job_id):
                submission.process_job(job.paths.folder)


@pytest.mark.parametrize("gpus", [None, 0.0, 0.5, 1.0, 2.0])
def test_stages_ask_for_the_gpus_that_are_given_also_for_none(
    gpus: float | None, slurm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a number one, where the partition has some."""
    monkeypatch.setattr(on_slurm, "has_gpus", lambda partition: True)
    asked: list[tuple[bool, float]] = []

    def parameters(options: Any, cpus: float, number: float, slots: int) -> dict[str, Any]:
        asked.append((len(asked) == 0, number))
        return {}

    monkeypatch.setattr(on_slurm, "parameters", parameters)
    SlurmExecutor({}, 4, 2, gpus)
    assert asked == [(True, 1.0 if gpus is None else gpus), (False, 0)]


def launched(executor: SlurmExecutor) -> Scheduler:
    with open_pipeline() as pipeline:
        scheduler = Scheduler(pipeline, executor, 1)
        scheduler.run()
    return scheduler


def test_stages_that_start_together_are_one_array_and_are_recorded_as_by_repro(
    slurm: Any, serial_lock: bytes
) -> None:
    executor = Cluster(slurm, {})
    assert not launched(executor).failed
    assert [job for job, _ in executor.seen] == ["12_0", "12_1", "13"]
    script = next(Path(".cache/launch/slurm").glob("12_submission.sh")).read_text()
    wanted = ["--array=0-1%2", "--partition=gpu", "--cpus-per-task=2", "--gpus-per-node=1", "--time=60"]
    assert [option for option in wanted if f"#SBATCH {option}\n" not in script] == []
    assert Path("dvc.lock").read_bytes() == serial_lock
    assert "Slurm job 12_1" in Path(".cache/launch/b.log").read_text()


def test_a_job_that_fails_again_and_again_fails_with_its_state(slurm: Any) -> None:
    states = {"12_0": "NODE_FAIL", "13": "OUT_OF_MEMORY"}
    assert launched(Cluster(slurm, states)).failed == {"a": "Slurm job 13: OUT_OF_MEMORY"}


def killed_after_handing_over(slurm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch that is killed when both jobs of its first array run."""
    executor = Cluster(slurm, {})

    def dies(job: Any) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(executor, "close", lambda: None)
    monkeypatch.setattr(executor, "run", dies)
    with pytest.raises(ProcessLookupError):
        launched(executor)


def test_the_next_launch_waits_for_the_jobs_that_are_there(
    slurm: Any, serial_lock: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_after_handing_over(slurm, monkeypatch)
    executor = Cluster(slurm, {})
    assert not launched(executor).failed
    assert [job for job, _ in executor.seen] == ["12_0", "12_1", "13"]
    assert runs(Path()) == ["a", "b", "c"]
    assert Path("dvc.lock").read_bytes() == serial_lock
    assert Path(".cache/launch/slurm/jobs.json").read_text() == "{}\n"


def test_a_job_on_other_inputs_is_cancelled_before_its_stage_runs_again(
    slurm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_after_handing_over(slurm, monkeypatch)
    Path("source.txt").write_text("other words\n")
    cancelled = []

    def scancel(words: list[str]) -> str:
        cancelled.extend(words)
        slurm.set_job_state("12", "CANCELLED", array=2)
        return ""

    monkeypatch.setattr(slurm, "scancel", scancel)
    executor = Cluster(slurm, {})
    assert not launched(executor).failed
    assert cancelled == ["12_0", "12_1"]
    assert [job for job, _ in executor.seen] == ["13_0", "13_1", "14"]
    assert Path("c.txt").read_text() == "other words\n" * 2


def test_without_slurm_the_launch_is_one_line(
    toy: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    toy(STAGES)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "srun" in refused("launch", "--on", "slurm")


@pytest.mark.parametrize("text", ["", "[]", '{"a": {"job": "12"}}', "\x00"])
def test_a_damaged_record_of_jobs_is_one_line(tmp_path: Path, text: str) -> None:
    """Without it a second job could be started for a stage whose first one runs."""
    (tmp_path / "jobs.json").write_text(text)
    with pytest.raises(InputError, match=r"jobs\.json: damaged; end jobs of earlier launches"):
        read_jobs(tmp_path / "jobs.json")


def test_a_job_that_slurm_refuses_later_is_a_failed_stage(
    slurm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example, too many jobs of this user are queued."""

    from submitit.core.utils import FailedJobError

    def refuses(words: list[str]) -> str:
        raise FailedJobError("sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: too many")

    monkeypatch.setattr(slurm, "sbatch", refuses)
    reason = "Slurm refuses its job: sbatch: error: too many"
    assert launched(Cluster(slurm, {})).failed == {"a": reason, "b": reason}


def test_a_state_that_slurm_does_not_tell_stays_as_it_was(
    slurm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = on_slurm.Queue()
    queue.register_job("12")
    answers = [(0, "12 RUNNING"), (1, "Unable to contact slurm controller"), (0, "13 PENDING")]
    seen = []
    for actual in answers:
        monkeypatch.setattr(on_slurm, "answer", lambda words, answer=actual: answer)
        queue.update()
        seen.append((queue.get_state("12", mode="cache"), queue.is_done("12", mode="cache")))
    assert seen == [("RUNNING", False), ("RUNNING", False), ("GONE", True)]
