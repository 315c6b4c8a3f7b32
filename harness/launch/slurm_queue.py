"""What Slurm's own commands answer: the states of jobs, whether a request can be met, where GPUs are."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterable

from submitit.slurm.slurm import SlurmInfoWatcher

from harness.errors import InputError

PERIOD = 60
"""Seconds after which the states of jobs that run for long are asked for again."""
LISTED = ["squeue", "--me", "--states=all", "--array", "--noheader", "--format=%i %T"]
ENDED = {
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "GONE", "NODE_FAIL"),
    *("OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
}
"""States from which a job never runs again; GONE is ours, for a job that Slurm no longer lists."""


class Queue(SlurmInfoWatcher):
    """States of jobs from squeue, which needs no accounting; submitit's own sacct does."""

    def __init__(self) -> None:
        super().__init__(delay_s=PERIOD)

    def update(self) -> None:
        """Asks for the states of all jobs at once; without an answer they stay as they were."""
        self._last_status_check = time.time()
        code, listed = answer(LISTED)
        if code == 0:
            states = dict(line.split(maxsplit=1) for line in listed.splitlines())
            self._info_dict = {job: {"State": states.get(job, "GONE")} for job in self._registered}

    def is_done(self, job_id: str, mode: str = "standard") -> bool:
        """Returns whether a job never runs again."""
        return self.get_state(job_id, mode) in ENDED


def answer(words: list[str], text: str = "") -> tuple[int, str]:
    """Returns the exit code of a Slurm command and what it prints: the first line of an error, else all."""
    try:
        ended = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    except OSError as error:
        return 127, f"{words[0]}: {error.strerror}"
    if ended.returncode == 0:
        return 0, ended.stdout
    lines = (ended.stderr or ended.stdout).strip().splitlines() or [f"exit code {ended.returncode}"]
    return ended.returncode, re.sub(r"^\w+: (error: )?", "", lines[0])


def check_request(script: str) -> None:
    """Raises InputError unless some node can ever run a job script; nothing is submitted."""
    code, said = answer(["sbatch", "--test-only"], script)
    if code:
        raise InputError(
            f"--on slurm: sbatch refuses the jobs: {said}; correct --slurm, --cpus-per-run or --gpus-per-run"
        )


def has_gpus(partition: str | None) -> bool:
    """Returns whether a node of a partition, by default Slurm's own, has a GPU.

    Errors: InputError if Slurm does not answer.
    """
    code, said = answer(["sinfo", "--noheader", "--format=%P %G", *([f"-p{partition}"] if partition else [])])
    if code:
        raise InputError(f"--on slurm: {said}; run it on a node from which jobs can be submitted")
    rows = [line.split() for line in said.splitlines()]
    return any("gpu" in gres for name, gres in rows if partition or name.endswith("*"))


def cancel(jobs: Iterable[str]) -> None:
    """Asks Slurm to end jobs; those that have ended already are passed over."""
    answer(["scancel", "--quiet", *jobs])
