"""Executor `slurm`: a job for each stage through submitit, with an array for stages that start together.

Jobs outlive the scheduler. Their ids are kept in a file, so the next launch waits for an existing job instead
of starting its stage twice.
"""

import json
import logging
import os
import re
import subprocess
import time
from collections.abc import Mapping
from contextlib import redirect_stderr
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import submitit
from submitit.slurm.slurm import SlurmInfoWatcher

from harness.errors import InputError
from harness.io.files import write_json
from harness.launch.worker import Ended, Job, run_commands
from harness.paths import cache
from harness.process import worker_environment

QUEUE_PERIOD = 2.0
"""Seconds between two checks of the jobs' files."""
GRACE = 60.0
"""Seconds to wait for cancelled jobs."""
MOST_JOBS = 1000
"""Default number of jobs in the queue: a usual limit of Slurm arrays."""
ASKED_AGAIN = 60
"""Seconds between two queries of the states of long jobs."""
LISTED = ["squeue", "--me", "--states=all", "--array", "--noheader", "--format=%i %T"]
ENDED = {
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "GONE", "NODE_FAIL"),
    *("OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
}
"""States from which a job never runs again; GONE is a job that Slurm no longer lists."""


class SlurmExecutor:
    """Jobs of a launch as Slurm jobs; the project's folder is under the same path on every node."""

    def __init__(self, options: Mapping[str, str], jobs: int | None, cpus: float, gpus: float | None) -> None:
        """options: of sbatch by name, `time` in minutes. cpus, gpus: resources of one stage. gpus: None for
        one GPU if the partition has GPUs and the options do not request any. Errors: InputError if Slurm is
        not available or refuses the jobs.
        """
        logging.getLogger("submitit").setLevel(logging.CRITICAL)
        self.slots = jobs or MOST_JOBS
        self._folder = cache() / "launch" / "slurm"
        self._record = self._folder / "jobs.json"
        self._kept = read_jobs(self._record)
        self._queued: list[Job] = []
        self._running: dict[str, Any] = {}
        try:
            self._executors = {
                wants_gpu: submitit.AutoExecutor(folder=self._folder, cluster="slurm")
                for wants_gpu in (True, False)
            }
        except RuntimeError as error:
            raise InputError(
                f"--on slurm: {' '.join(str(error).split())}; run it on a node of a cluster"
            ) from None
        submitit.SlurmJob.watcher = Queue()
        if gpus is None:
            partition = options.get("partition") or os.environ.get("SBATCH_PARTITION")
            asked = any("gpu" in name or name == "gres" for name in options)
            gpus = float(not asked and has_gpus(partition))
        for wants_gpu, executor in self._executors.items():
            executor.update_parameters(**parameters(options, cpus, gpus if wants_gpu else 0, self.slots))
            check_request(executor._executor._make_submission_file_text("true", "check"))

    def submit(self, job: Job) -> None:
        """Queues a job for the next array."""
        self._queued.append(job)

    def adopt(self, stage: str, inputs: str) -> bool:
        """Returns whether a job of an earlier launch runs or has run this stage on the same inputs. `wait`
        will return it when it has ended. A job on other inputs is cancelled.
        """
        kept = self._kept.get(stage)
        if kept is None:
            return False
        slurm_job = submitit.SlurmJob(folder=self._folder, job_id=kept["job"])
        if kept["inputs"] != inputs:
            self._cancel({stage: slurm_job})
            return False
        self._running[stage] = slurm_job
        return True

    def wait(self, seconds: float) -> list[Ended]:
        """Submits queued jobs; returns the jobs that have ended or were refused."""
        refused = self._hand_over()
        deadline = time.monotonic() + seconds
        while True:
            done = [stage for stage, slurm_job in self._running.items() if slurm_job.done()]
            if done or refused or time.monotonic() >= deadline:
                return [*refused, *map(self._end, done)]
            time.sleep(min(QUEUE_PERIOD, max(0.0, deadline - time.monotonic())))

    def close(self) -> None:
        """Cancels all jobs and waits for their end; the next launch adopts any that remain."""
        self._queued.clear()
        self._cancel(self._running)
        self._running.clear()

    def _hand_over(self) -> list[Ended]:
        """Submits queued jobs; returns those that Slurm refuses, for example because its queue is full."""
        refused = []
        for wants_gpu, executor in self._executors.items():
            waiting = [job for job in self._queued if job.wants_gpu is wants_gpu]
            if not waiting:
                continue
            try:
                with redirect_stderr(StringIO()), executor.batch():
                    jobs = [executor.submit(run_in_job, job) for job in waiting]
            except (
                submitit.core.utils.FailedJobError,
                submitit.core.utils.FailedSubmissionError,
            ) as error:
                reason = f"Slurm refuses its job: {str(error).splitlines()[-1]}"
                refused += [Ended(job.stage, None, reason) for job in waiting]
                continue
            for job, slurm_job in zip(waiting, jobs, strict=True):
                self._running[job.stage] = slurm_job
                self._kept[job.stage] = {"job": slurm_job.job_id, "inputs": job.inputs}
            write_json(self._record, self._kept)
        self._queued.clear()
        return refused

    def _end(self, stage: str) -> Ended:
        slurm_job = self._running.pop(stage)
        self._forget(stage)
        state = str(slurm_job.state)
        if state != "COMPLETED" and not slurm_job.paths.result_pickle.exists():
            return Ended(stage, None, f"Slurm job {slurm_job.job_id}: {state}")
        try:
            code = slurm_job.result()
        except submitit.core.utils.UncompletedJobError:
            return Ended(stage, None, f"Slurm job {slurm_job.job_id}: {state}, without a result")
        return Ended.with_code(stage, code)

    def _cancel(self, jobs: Mapping[str, Any]) -> None:
        if jobs:
            answer(["scancel", "--quiet", *(slurm_job.job_id for slurm_job in jobs.values())])
        deadline = time.monotonic() + GRACE
        left = dict(jobs)
        while left and time.monotonic() < deadline:
            for stage in [stage for stage, slurm_job in left.items() if slurm_job.done(force_check=True)]:
                del left[stage]
                self._forget(stage)
            if left:
                time.sleep(QUEUE_PERIOD)

    def _forget(self, stage: str) -> None:
        del self._kept[stage]
        write_json(self._record, self._kept)


def parameters(options: Mapping[str, str], cpus: float, gpus: float, slots: int) -> dict[str, Any]:
    """Returns the parameters of submitit; InputError for fractional CPUs or GPUs, which Slurm cannot
    allocate."""
    if cpus != int(cpus) or gpus != int(gpus):
        raise InputError(
            f"a stage takes {cpus:g} CPUs and {gpus:g} GPUs, but Slurm allocates whole ones; to share a "
            f"GPU run Ray inside one allocation, as docs/cluster.md shows"
        )
    minutes = options.get("time", "60")
    if not minutes.isdecimal():
        raise InputError(f"--slurm time={minutes}: expected whole minutes, for example time=240")
    return {
        "name": "sentbench",
        "timeout_min": int(minutes),
        "cpus_per_task": int(cpus),
        **({"gpus_per_node": int(gpus)} if gpus else {}),
        "slurm_array_parallelism": slots,
        "slurm_srun_args": [f"--cpus-per-task={int(cpus)}"],  # since 22.05 a step does not inherit it
        "slurm_additional_parameters": {name: options[name] for name in options if name != "time"},
    }


def read_jobs(record: Path) -> dict[str, dict[str, str]]:
    """Returns the jobs of earlier launches by stage; InputError if their record is damaged."""
    if not record.is_file():
        return {}
    try:
        kept = json.loads(record.read_text(encoding="utf-8"))
        return {
            str(stage): {name: str(slurm_job[name]) for name in ("job", "inputs")}
            for stage, slurm_job in kept.items()
        }
    except (ValueError, AttributeError, KeyError, TypeError):
        raise InputError(
            f"{record}: damaged; end jobs of earlier launches (`scancel --name=sentbench`), then delete it"
        ) from None


def read_options(text: str) -> dict[str, str]:
    """Returns the options in `partition=gpu,time=240`; InputError if the text has another form."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair]
    for name, _, value in pairs:
        if not re.fullmatch(r"[a-z][a-z_]*", name) or not value:
            raise InputError(
                f"--slurm {text}: expected NAME=VALUE, separated by commas, for example time=240"
            )
    return {name: value for name, _, value in pairs}


def run_in_job(job: Job) -> int:
    """Runs a job in this Slurm job and returns its exit code, or minus the signal that ended it."""
    settings = worker_environment(os.environ.get("SLURM_CPUS_PER_TASK", 1)) | dict(job.environment)
    os.chdir(job.folder)
    number = os.environ.get("SLURM_JOB_ID", "?")
    return run_commands(replace(job, environment=settings), f"Slurm job {number}")


class Queue(SlurmInfoWatcher):
    """States of jobs from squeue; submitit's sacct would need accounting."""

    def __init__(self) -> None:
        super().__init__(delay_s=ASKED_AGAIN)

    def update(self) -> None:
        """Queries the states of all jobs at once; without an answer they stay unchanged."""
        self._last_status_check = time.time()
        code, listed = answer(LISTED)
        if code == 0:
            states = dict(line.split(maxsplit=1) for line in listed.splitlines())
            self._info_dict = {job: {"State": states.get(job, "GONE")} for job in self._registered}

    def is_done(self, job_id: str, mode: str = "standard") -> bool:
        """Returns whether a job never runs again."""
        return self.get_state(job_id, mode) in ENDED


def answer(words: list[str], text: str = "") -> tuple[int, str]:
    """Returns the exit code of a Slurm command and its output; of an error only the first line."""
    try:
        ended = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    except OSError as error:
        return 127, f"{words[0]}: {error.strerror}"
    if ended.returncode == 0:
        return 0, ended.stdout
    lines = (ended.stderr or ended.stdout).strip().splitlines() or [f"exit code {ended.returncode}"]
    return ended.returncode, re.sub(r"^\w+: (error: )?", "", lines[0])


def check_request(script: str) -> None:
    """Raises InputError if no node could ever run a job script, without submitting it."""
    code, said = answer(["sbatch", "--test-only"], script)
    if code:
        raise InputError(
            f"--on slurm: sbatch refuses the jobs: {said}; correct --slurm, --cpus-per-run or --gpus-per-run"
        )


def has_gpus(partition: str | None) -> bool:
    """Returns whether a node of a partition (default: Slurm's default) has a GPU.

    Errors: InputError if Slurm does not answer.
    """
    code, said = answer(["sinfo", "--noheader", "--format=%P %G", *([f"-p{partition}"] if partition else [])])
    if code:
        raise InputError(f"--on slurm: {said}; run it on a node from which jobs can be submitted")
    rows = [line.split() for line in said.splitlines()]
    return any("gpu" in gres for name, gres in rows if partition or name.endswith("*"))
