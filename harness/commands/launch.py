"""`sentbench launch`: run the stages in parallel, here, on Ray or on Slurm."""

import argparse
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence, Set
from contextlib import ExitStack
from pathlib import Path

from harness.commands.forecast import hours_of, without_training
from harness.commands.waiting import waiting
from harness.errors import InputError
from harness.launch.local import PRELOADED, LocalExecutor, visible_gpus
from harness.launch.on_ray import RayExecutor
from harness.launch.pipeline import TESTED, Pipeline, is_tested, open_pipeline
from harness.launch.scheduler import Scheduler, stages_to_run
from harness.launch.worker import Executor, is_ours, log_of
from harness.paths import ENTRIES
from harness.plan.entries import Params
from harness.plan.entry_files import entry_texts
from harness.plan.estimate import Estimate, cores_here
from harness.plan.fingerprints import code_fingerprints
from harness.plan.hours import read_hours
from harness.plan.params_file import read_params
from harness.plan.stale import print_warnings, recorded_recipes, refuse_old_plan
from harness.process import compute_with, limitation

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
    "--first-seeds": {
        "action": "store_true",
        "help": "leave out the further seeds of every system, whose scores stay as they are",
    },
    "--dry-run": {"action": "store_true", "help": "say what would run and how long it would take"},
}


def execute(arguments: argparse.Namespace) -> int:
    """Runs changed stages and records them as `dvc repro` does; returns 1 if a stage failed or was
    interrupted."""
    compute_with("native")  # each stage's command sets its variables
    check_numbers(arguments)
    edited = refuse_old_plan()
    without = further_stages(read_params()) if arguments.first_seeds else set()
    if named := without.intersection(arguments.targets):
        raise InputError(f"{min(named)}: a further seed, which --first-seeds leaves out")
    if not is_tested():
        if arguments.on != "local":
            raise InputError(f"--on {arguments.on} needs DVC {TESTED}; `dvc repro` runs the stages here")
        return run_serially(arguments.targets, without, dry=arguments.dry_run)
    with ExitStack() as stack:
        with waiting("reading the stages"):
            pipeline = stack.enter_context(open_pipeline(arguments.targets or None, without))
        if arguments.dry_run:
            with waiting("looking for changes"):
                expected = forecast(pipeline, arguments.jobs)
            print_warnings(edited)
            print(expected)
            return 0
        executor = executor_of(arguments, pipeline)
        evaluates = any(name.startswith("evaluate@") for name in pipeline.order)
        runs = read_params().runs.values() if evaluates else ()
        if any(run.arithmetic == "portable" for run in runs) and (limit := limitation()):
            print(f"sentbench: {limit}", file=sys.stderr)
        scheduler = Scheduler(pipeline, executor, arguments.retries)
        scheduler.run()
    return conclude(scheduler)


def further_stages(params: Params) -> set[str]:
    """Returns the stages of the seeds after the first ones of their systems."""
    runs = [key for key, run in params.runs.items() if not run.is_first]
    stages = {f"{stage}@{key}" for key in runs for stage in ("train", "evaluate")}
    return stages | {f"further@{name}" for name in params.further}


def run_serially(targets: Sequence[str], without: Set[str], *, dry: bool) -> int:
    """Runs the stages one at a time by `dvc repro`, with a line that says so; returns its exit code. without:
    as of `open_pipeline`.
    """
    from dvc import __version__

    commands = [[*targets] or ["--all-pipelines"]]
    if without and not targets:
        runs = (f"evaluate@{key}" for key in read_params().runs)
        commands = [[name for name in runs if name not in without], ["--single-item", "report"]]
    for words in commands:
        command = ["repro", *(["--dry"] if dry else []), *words]
        print(
            f"sentbench: DVC is {__version__}, launch knows {TESTED}: `dvc {shown(command)}` runs the "
            "stages, one at a time",
            file=sys.stderr,
            flush=True,
        )
        if code := subprocess.run([sys.executable, "-m", "dvc", *command]).returncode:
            return code
    return 0


def shown(command: Sequence[str]) -> str:
    """Returns a command with at most its first four words."""
    return " ".join([*command[:4], *(["..."] if len(command) > 4 else [])])


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
        gpus, runs = shared_gpus(gpus, arguments.gpus_per_run or 1.0)
        most = min(most, runs)
    preloaded = [PRELOADED] if any(map(is_ours, pipeline.commands.values())) else []
    return LocalExecutor(arguments.jobs or most, gpus, preloaded)


def shared_gpus(gpus: Sequence[str], share: float) -> tuple[list[str], int]:
    """Returns the GPUs of each seat, as CUDA_VISIBLE_DEVICES names them, and the number of runs at once.
    share: GPUs a run takes; a part of one is a part of the same one for all.

    Errors: InputError for more than there are.
    """
    size = math.ceil(share)
    if size > len(gpus):
        raise InputError(f"--gpus-per-run {share:g}: {len(gpus)} GPUs here; correct it")
    seats = [",".join(gpus[start : start + size]) for start in range(0, len(gpus) - size + 1, size)]
    return seats, len(seats) * max(1, math.floor(1 / share))


def forecast(pipeline: Pipeline, jobs: int | None) -> str:
    """Returns the stages that would run and, by executor, the time of the plan's runs among them."""
    known = foreseen(pipeline)
    names = stages_to_run(pipeline, known)
    kinds = Counter(name.partition("@")[0] for name in names)
    counts = ", ".join(f"{number} {kind}" for kind, number in kinds.items()) or "none"
    lines = [f"{len(names)} of {len(pipeline.order)} stages would run: {counts}"]
    if not (kinds["train"] and any(is_ours(pipeline.commands[name]) for name in names)):
        return lines[0]
    params = read_params()
    trained = {key: run for key, run in params.runs.items() if f"train@{key}" in names}
    lines += hours_of(Estimate(params, read_hours()), [*trained], jobs)
    texts = {path: text for files in known.values() for path, text in files.items()}
    return "\n".join([*lines, *without_training(pipeline, trained, recorded_recipes(params), texts)])


def foreseen(pipeline: Pipeline) -> dict[str, dict[Path, str]]:
    """Returns the outputs of the stages of entries and of code fingerprints, by stage and file. Both take
    seconds to compute; without them a comment in a module would look like a change of every stage. Empty for
    a pipeline without these stages.
    """
    if not {"entries", "fingerprint"} <= pipeline.order.keys():
        return {}
    params = read_params()
    entries = {ENTRIES / path: text for path, text in entry_texts(params).items()}
    return {"entries": entries, "fingerprint": code_fingerprints(params)}


def conclude(scheduler: Scheduler) -> int:
    """Prints the outcomes, failures and how to continue; returns the exit code."""
    print(scheduler.summary, file=sys.stderr)
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


def check_numbers(arguments: argparse.Namespace) -> None:
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
