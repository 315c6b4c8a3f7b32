"""What a launch would train: the hours of each system, and the results that need no training."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from harness.plan.entries import Params, Run
from harness.plan.estimate import Estimate, cores_here, duration, hours_at_once, packing
from harness.plan.hours import Cost

GPUS = (1, 8, 64)
"""Numbers of GPUs in the estimate: one, one machine, a cluster."""
SHORTEST = 60.0
"""Seconds: below it starting a training takes longer than its steps on a GPU, which alone are estimated."""
ECOSYSTEM = "docs/ecosystem.md"


class Stored(Protocol):
    """What is asked of a pipeline: whether a stage's outputs are recorded and cached, and its remotes."""

    @property
    def remotes(self) -> Sequence[str]:
        """The names of the declared remotes."""

    def is_recorded(self, name: str, known: Mapping[Path, str]) -> bool:
        """As of `harness.launch.pipeline.Pipeline`."""

    def is_cached(self, name: str) -> bool:
        """As of `harness.launch.pipeline.Pipeline`."""


def hours_of(estimate: Estimate, keys: Sequence[str], jobs: int | None) -> list[str]:
    """Returns lines with the hours of these runs by executor, and of each system if they take long."""
    runs = estimate.params.runs
    costs = {key: cost for key in keys if (cost := estimate.run(runs[key]))}
    if not costs:
        return []
    cores = jobs or cores_here()
    seconds = 3600 * hours_at_once([cost.cpu_hours for cost in costs.values()], cores)
    lines = [f"--on local, {cores} runs at once on this machine's CPU: about {duration(seconds)}"]
    gpu = [cost.gpu_hours for cost in costs.values()]
    if 3600 * max(gpu) < SHORTEST:
        lines.append(
            "--on ray or slurm: no estimate for GPUs; on one, starting these trainings takes longer than "
            "their steps"
        )
    else:
        for gpus in [jobs] if jobs else GPUS:
            hours = hours_at_once(gpu, gpus)
            lines.append(f"--on ray or slurm, {gpus} runs at once on GPUs: about {duration(hours * 3600)}")
        lines += _by_system(estimate.params, costs)
    unknown = len(keys) - len(costs)
    lines += [f"no estimate for {unknown} of {len(keys)} runs"] if unknown else []
    return [*lines, *packing(keys)]


def _by_system(params: Params, costs: Mapping[str, Cost]) -> Iterator[str]:
    """Yields a line for each system, with the GPU hours of its runs, in the order of the plan."""
    systems: dict[str, list[float]] = {}
    for key, cost in costs.items():
        run = params.runs[key]
        systems.setdefault(f"{run.id}@{run.backbone_name}", []).append(cost.gpu_hours)
    for system, hours in systems.items():
        yield f"  {system}: {len(hours)} x {duration(3600 * hours[0])} on a GPU"


def without_training(
    pipeline: Stored, runs: Mapping[str, Run], recorded: Collection[str], known: Mapping[Path, str]
) -> list[str]:
    """Returns lines on the runs to train whose results exist: in DVC's cache, or committed.

    recorded: the runs with a committed result. known: texts of the entries and of the code's hashes.
    """
    keys = [*runs]
    same = [key for key in keys if pipeline.is_recorded(f"train@{key}", known)]
    cached = [key for key in same if pipeline.is_cached(f"train@{key}")]
    elsewhere = [key for key in same if key in recorded and key not in cached]
    lines = []
    if cached:
        lines.append(
            f"{len(cached)} of {len(keys)} trainings have their outputs in .dvc/cache: they are restored "
            "unless their data changed"
        )
    if elsewhere:
        remotes = f"`dvc pull` gets them from {', '.join(pipeline.remotes)}"
        if not pipeline.remotes:
            remotes = "`dvc pull` gets them if you declare a remote that has them"
        lines.append(
            f"{len(elsewhere)} of {len(keys)} trainings have committed results, but .dvc/cache lacks their "
            f"encoders: {remotes} ({ECOSYSTEM}, Get all results without training); the report, `verify` and "
            "`compare --no-pairs` need none"
        )
        first = sum(run.is_first for run in runs.values())
        if 0 < first < len(keys):
            lines.append(f"--first-seeds trains {first} of them and leaves the other results as committed")
    return lines
