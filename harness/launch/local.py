"""Executor `local`: processes on this machine, forked from one that has imported torch and transformers."""

import multiprocessing
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count
from multiprocessing import forkserver
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess

from harness.launch.worker import GONE, Ended, Job, run_work
from harness.process import set_portable, worker_environment

PRELOADED = "harness.launch.libraries"
"""The module that the server imports: it loads libraries, and no code of this project."""
FORKABLE = {"PYTORCH_NVML_BASED_CUDA_CHECK": "1", "PYTHONWARNINGS": "ignore:resource_tracker"}
"""Query GPUs without initialising CUDA, which does not survive fork; silence warnings about killed
workers."""
GRACE = 5.0
"""Seconds between asking a process to end and killing it."""


class LocalExecutor:
    """Jobs as processes of this machine, `slots` at once, each with its share of the cores."""

    def __init__(self, slots: int, gpus: Sequence[str] = (), preloaded: Sequence[str] = (PRELOADED,)) -> None:
        """gpus: the GPUs that the slots share in turn, as `visible_gpus` names them.

        preloaded: the modules that the server imports before the first job starts.
        """
        self.slots = slots
        self._gpus = gpus
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(list(preloaded))
        self._running: dict[str, BaseProcess] = {}
        self._seats: dict[str, int] = {}
        self._lost: list[Ended] = []

    def submit(self, job: Job) -> None:
        """Starts a job in a new process; if a signal ended the server, `wait` reports the job as lost."""
        seat = next(seat for seat in count() if seat not in self._seats.values())
        device, environment = self._device(job, seat)
        job = replace(job, environment={**job.environment, **environment})
        process = self._context.Process(target=run_work, args=(job, device), name=job.stage)
        try:
            with server_for(self.slots):
                process.start()
        except (EOFError, ConnectionError) as error:
            reason = f"the server of workers is gone ({error})"
            self._lost.append(Ended(job.stage, None, reason))
            return
        self._running[job.stage], self._seats[job.stage] = process, seat

    def wait(self, seconds: float) -> list[Ended]:
        """Returns the jobs whose processes have ended, after killing their children."""
        if not self._lost:
            wait([process.sentinel for process in self._running.values()], timeout=seconds)
        lost, self._lost = self._lost, []
        ended = [stage for stage, process in self._running.items() if process.exitcode is not None]
        return [*lost, *(self._end(stage) for stage in ended)]

    def close(self) -> None:
        """Terminates all processes, then kills the remaining ones and their children."""
        for process in self._running.values():
            signal_group(process, signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        for process in self._running.values():
            process.join(max(0.0, deadline - time.monotonic()))
        for stage in list(self._running):
            self._end(stage)

    def _end(self, stage: str) -> Ended:
        process = self._running.pop(stage)
        del self._seats[stage]
        signal_group(process, signal.SIGKILL)
        process.kill()
        process.join()
        code = process.exitcode
        if code is None or code == GONE:
            return Ended(stage, None, "its process is gone")
        return Ended.with_code(stage, code)

    def _device(self, job: Job, seat: int) -> tuple[str, dict[str, str]]:
        if not self._gpus:
            return f"slot {seat}", {}
        gpu = self._gpus[seat % len(self._gpus)] if job.wants_gpu else ""
        return f"slot {seat}, GPU {gpu or 'none'}", {"CUDA_VISIBLE_DEVICES": gpu}


@contextmanager
def server_for(slots: int) -> Iterator[None]:
    """Starts the fork server, if it is not running, with portable arithmetic.

    A command that needs native arithmetic starts again with its share of the cores, or OMP_NUM_THREADS. The
    server ignores Ctrl-C from its start; the scheduler ends running jobs.
    """
    before = dict(os.environ)
    share = max(1, len(os.sched_getaffinity(0)) // slots)
    os.environ.update(worker_environment(before.get("OMP_NUM_THREADS", share)))
    os.environ.update(FORKABLE)
    set_portable(os.environ)
    try:
        heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            forkserver.ensure_running()
        finally:
            signal.signal(signal.SIGINT, heard)
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def signal_group(process: BaseProcess, number: signal.Signals) -> None:
    """Sends a signal to the process group of a process, if it still exists."""
    if process.pid is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)


def visible_gpus() -> list[str]:
    """Returns the GPUs that local processes may use, as CUDA_VISIBLE_DEVICES names them, without starting
    CUDA."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [gpu.strip() for gpu in visible.split(",") if gpu.strip()]
    try:
        listed = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return []
    return [str(gpu) for gpu in range(len(listed.stdout.splitlines()))] if listed.returncode == 0 else []
