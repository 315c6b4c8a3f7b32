"""`sentbench launch`: run the stages in parallel, here, on Ray or on Slurm.

Example: `sentbench launch --jobs 2`
"""

import argparse
import json
import math
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.errors import InputError
from harness.launch.local import LocalExecutor, visible_gpus
from harness.launch.on_ray import RayExecutor
from harness.launch.pipeline import Pipeline, log_of, open_pipeline
from harness.launch.progress import Progress, duration
from harness.launch.scheduler import Scheduler
from harness.launch.worker import PRELOADED, Executor, is_ours
from harness.paths import COSTS, ENTRIES
from harness.plan.entries import Params
from harness.plan.estimate import Estimate, cores_here, hours_at_once, packing
from harness.plan.params_file import read_params
from harness.plan.stale import refuse_old_plan, warn_if_stale
from harness.plan.step_times import read_step_times
from harness.process import compute_with, limitation
from harness.stages.entries import write_entries
from harness.stages.fingerprint import code_fingerprints

TYPICAL = {
    "data": 10.0,
    "teacher": 40.0,
    "train": 5.0,
    "untrained train": 3.0,
    "evaluate": 4.0,
    "report": 10.0,
}
"""Seconds of stages of the small plan on one core, until they are measured; other stages take about one
second."""
GPUS = (1, 8, 64)
"""Numbers of GPUs in the estimate: one, one machine, a cluster."""
ARGUMENTS = {
    "targets": {
        "nargs": "*",
        "metavar": "TARGET",
        "help": "stages, with their dependencies; default: all stages",
    },
    "--on": {"choices": ["local", "ray", "slurm"], "default": "local", "help": "what runs the stages"},
    "--jobs": {"type": int, "metavar": "N", "help": "stages at once"},
    "--gpus-per-run": {"type": float, "metavar": "G", "help": "GPUs a stage takes: 0.5 is half a GPU"},
    "--cpus-per-run": {"type": float, "metavar": "C", "help": "processors a stage takes"},
    "--retries": {
        "type": int,
        "default": 5,
        "metavar": "N",
        "help": "further attempts if the system ended a stage",
    },
    "--address": {"metavar": "A", "help": "of a Ray cluster, `auto` for the one of this machine"},
    "--slurm": {"default": "", "metavar": "NAME=VALUE,...", "help": "options of sbatch, time in minutes"},
    "--dry-run": {"action": "store_true", "help": "say what would run and how long it would take"},
}


def execute(arguments: argparse.Namespace) -> int:
    """Runs changed stages and records them as `dvc repro` does; returns 1 if a stage failed or was
    interrupted."""
    compute_with("native")  # each stage's command sets its variables
    check_options(arguments)
    refuse_old_plan()
    with open_pipeline(arguments.targets or None) as pipeline:
        if arguments.dry_run:
            expected = forecast(pipeline, arguments.jobs)
            warn_if_stale()
            print(expected)
            return 0
        executor = executor_of(arguments, pipeline)
        evaluates = any(name.startswith("evaluate@") for name in pipeline.order)
        params = read_params() if evaluates else None
        runs = params.runs.values() if params else ()
        if any(run.arithmetic == "portable" for run in runs) and (limit := limitation()):
            print(f"sentbench: {limit}", file=sys.stderr)
        progress = Progress(
            pipeline.order, executor.slots, guesses=guesses(pipeline, params) if params else {}
        )
        scheduler = Scheduler(pipeline, executor, arguments.retries, progress)
        scheduler.run()
    return report(scheduler)


def executor_of(arguments: argparse.Namespace, pipeline: Pipeline) -> Executor:
    """Returns the executor that the arguments name; InputError if it is not available."""
    share = arguments.jobs, arguments.cpus_per_run or 1.0, arguments.gpus_per_run
    if arguments.on == "ray":
        return RayExecutor(arguments.address, *share)
    if arguments.on == "slurm":
        from harness.launch.on_slurm import SlurmExecutor, read_options

        return SlurmExecutor(read_options(arguments.slurm), *share)
    cores, gpus = cores_here(), visible_gpus()
    most = cores if arguments.cpus_per_run is None else max(1, int(cores // arguments.cpus_per_run))
    if gpus and arguments.gpus_per_run != 0:
        most = min(most, max(1, math.floor(len(gpus) / (arguments.gpus_per_run or 1.0))))
    preloaded = PRELOADED if any(map(is_ours, pipeline.commands.values())) else ()
    return LocalExecutor(arguments.jobs or most, gpus, preloaded)


def guesses(pipeline: Pipeline, params: Params) -> dict[str, float]:
    """Returns the expected seconds of stages: from records, otherwise typical values of the small plan."""
    durations = {}
    for name in pipeline.order:
        kind, _, key = name.partition("@")
        with suppress(OSError, ValueError, KeyError):
            cost = json.loads((COSTS / f"{key}.{kind}.json").read_text(encoding="utf-8"))
            durations[name] = float(cost[f"{kind}_seconds"])
        if name not in durations and params.plan == ["small"]:
            untrained = kind == "train" and params.runs[key].train["steps"] == 0
            durations[name] = TYPICAL.get("untrained train" if untrained else kind, 1.0)
    return durations


def forecast(pipeline: Pipeline, jobs: int | None) -> str:
    """Returns the stages that would run and, by executor, the time of the plan's runs among them."""
    names = pipeline.to_run(foreseen(pipeline))
    kinds = Counter(name.partition("@")[0] for name in names)
    counts = ", ".join(f"{number} {kind}" for kind, number in kinds.items()) or "none"
    lines = [f"{len(names)} of {len(pipeline.order)} stages would run: {counts}"]
    if not any(is_ours(pipeline.commands[name]) for name in names):
        return lines[0]
    params, cores = read_params(), jobs or cores_here()
    left = {name: pipeline.order[name] & {*names} for name in names}
    seconds = Progress(left, cores, guesses=guesses(pipeline, params)).seconds_left()
    if seconds is not None:
        return f"{lines[0]}\n--on local, {cores} stages at once: about {duration(seconds)}"
    if not kinds["train"]:
        return lines[0]
    estimate = Estimate(params, read_step_times())
    keys = [key for key in params.runs if f"train@{key}" in names]
    costs = [cost for key in keys if (cost := estimate.run(params.runs[key]))]
    if not costs:
        return lines[0]
    cpu_hours = hours_at_once([cost.cpu_hours for cost in costs], cores)
    lines.append(
        f"--on local, {cores} runs at once on this machine's CPU: about {duration(cpu_hours * 3600)}"
    )
    for gpus in [jobs] if jobs else GPUS:
        hours = hours_at_once([cost.gpu_hours for cost in costs], gpus)
        lines.append(f"--on ray or slurm, {gpus} runs at once on GPUs: about {duration(hours * 3600)}")
    unknown = len(keys) - len(costs)
    lines += [f"no estimate for {unknown} of {len(keys)} runs"] if unknown else []
    return "\n".join([*lines, *packing(keys)])


def foreseen(pipeline: Pipeline) -> dict[str, dict[Path, str]]:
    """Returns the outputs of the stages of entries and of code fingerprints, by stage and file. Both take
    seconds to compute; without them a comment in a module would look like a change of every stage. Empty for
    a pipeline without these stages.
    """
    if not {"entries", "fingerprint"} <= pipeline.order.keys():
        return {}
    params = read_params()
    with TemporaryDirectory() as folder:
        written = write_entries(params, Path(folder, "entries"))
        entries = {
            ENTRIES / path.relative_to(written): path.read_text(encoding="utf-8")
            for path in written.rglob("*.json")
        }
    return {"entries": entries, "fingerprint": code_fingerprints(params)}


def report(scheduler: Scheduler) -> int:
    """Prints failures and how to continue; returns the exit code."""
    for name, reason in scheduler.failed.items():
        log = f" (log: {log_of(name)})" if log_of(name).is_file() else ""
        print(f"failed: {name}: {reason}{log}", file=sys.stderr)
    if not scheduler.failed and not scheduler.interrupted:
        return 0
    left = f"; {len(scheduler.skipped)} stages were not run" if scheduler.skipped else ""
    what = "interrupted" if scheduler.interrupted else f"{len(scheduler.failed)} failed"
    print(
        f"sentbench launch: {what}{left}; finished stages are recorded; rerun to continue",
        file=sys.stderr,
    )
    return 128 + scheduler.interrupted if scheduler.interrupted else 1


def check_options(arguments: argparse.Namespace) -> None:
    """Raises InputError for an invalid number, and for an option of another executor."""
    limits = {"jobs": 1, "retries": 0, "cpus_per_run": 0.01, "gpus_per_run": 0}
    for name, least in limits.items():
        number = getattr(arguments, name)
        if number is not None and not (least <= number < math.inf):
            raise InputError(f"--{name.replace('_', '-')} {number}: expected at least {least}")
    if not all(target.strip() for target in arguments.targets):
        raise InputError("launch '': expected the name of a stage")
    for option, executor in (("address", "ray"), ("slurm", "slurm")):
        given = getattr(arguments, option)
        if given and arguments.on != executor:
            raise InputError(
                f"--{option} {given}: --on is {arguments.on}, expected {executor}; write --on {executor} or "
                f"leave --{option} out"
            )
