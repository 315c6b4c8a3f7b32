"""Executor `ray`: a task for each stage on a Ray cluster, or on this machine if there is no address."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.launch.worker import Ended, Job, run_commands
from harness.process import worker_environment

ROOT = Path(__file__).parents[2]
GRACE = 10.0
"""Seconds to wait for cancelled tasks."""


class RayExecutor:
    """Jobs as Ray tasks; the project's folder is under the same path on every node."""

    def __init__(self, address: str | None, jobs: int | None, cpus: float, gpus: float | None) -> None:
        """cpus, gpus: resources of one stage; with a fraction of a GPU several stages share it.

        Errors: InputError if the cluster cannot be reached, or no node is large enough.
        """
        import ray

        self._ray = ray
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        try:
            ray.init(
                address=address or "local",
                runtime_env={"env_vars": {"PYTHONPATH": path}},
                log_to_driver=False,
                logging_level="error",
            )
        except ConnectionError:
            raise InputError(
                f"--address {address}: no Ray cluster answers; start one with `ray start --head`"
            ) from None
        self._cpus, self._gpus = cpus, gpus_of(ray.nodes(), cpus, gpus)
        self.slots = jobs or max(1, int(ray.cluster_resources()["CPU"] // cpus))
        self._running: dict[str, Any] = {}

    def submit(self, job: Job) -> None:
        """Queues a job; only the scheduler repeats failed attempts, so that each is counted once."""
        options = {"num_cpus": self._cpus, "num_gpus": self._gpus if job.wants_gpu else 0}
        task = self._ray.remote(run_on_node).options(name=job.stage, max_retries=0, **options)
        self._running[job.stage] = task.remote(job, max(1, int(self._cpus)))

    def wait(self, seconds: float) -> list[Ended]:
        """Returns the jobs whose tasks have ended, and those whose worker or node is gone."""
        stages = {task: stage for stage, task in self._running.items()}
        ready, _ = self._ray.wait(list(stages), num_returns=len(stages), timeout=0)
        if not ready:
            ready, _ = self._ray.wait(list(stages), num_returns=1, timeout=seconds)
        return [self._end(stages[task]) for task in ready]

    def close(self) -> None:
        """Cancels all tasks, waits until they are gone and leaves the cluster."""
        tasks = list(self._running.values())
        for task in tasks:
            self._ray.cancel(task, force=True)
        if tasks:
            self._ray.wait(tasks, num_returns=len(tasks), timeout=GRACE)
        self._ray.shutdown()

    def _end(self, stage: str) -> Ended:
        task = self._running.pop(stage)
        try:
            code = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            return Ended(stage, None, f"{type(error).__name__}: {str(error).splitlines()[0]}")
        return Ended.with_code(stage, code)


def gpus_of(nodes: list[dict[str, Any]], cpus: float, gpus: float | None) -> float:
    """Returns the GPUs of a stage: the requested number, otherwise one if any node has a GPU.

    Errors: InputError if no node has enough CPUs and GPUs for one stage.
    """
    free = [node["Resources"] for node in nodes if node["Alive"]]
    wanted = gpus if gpus is not None else float(any(node.get("GPU") for node in free))
    if not any(node.get("CPU", 0) >= cpus and node.get("GPU", 0) >= wanted for node in free):
        largest: dict[str, float] = max(
            free, key=lambda node: (node.get("GPU", 0), node.get("CPU", 0)), default={}
        )
        raise InputError(
            f"a stage takes {cpus:g} CPUs and {wanted:g} GPUs, a node at most {largest.get('CPU', 0):g} "
            f"and {largest.get('GPU', 0):g}; correct --cpus-per-run or --gpus-per-run"
        )
    return wanted


def run_on_node(job: Job, threads: int) -> int:
    """Runs a job in this Ray worker and returns its exit code, or minus the signal that ended it.

    Its child processes end with this worker, and the worker ends with its node: a node that Ray considers
    dead keeps no process of a stage that has moved to another node.
    """
    import ray

    if os.getpgid(0) != os.getpid():
        os.setsid()
    gpus = ",".join(map(str, ray.get_gpu_ids()))
    settings = {"CUDA_VISIBLE_DEVICES": gpus, **worker_environment(threads)}
    os.chdir(job.folder)
    node = os.pidfd_open(os.getppid())
    try:
        job = replace(job, environment={**settings, **job.environment})
        where = f"Ray node {ray.get_runtime_context().get_node_id()[:8]}"
        return run_commands(job, f"{where}, GPU {gpus or 'none'}", scheduler=node)
    finally:
        os.close(node)
