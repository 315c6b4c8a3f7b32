"""`sentbench follow`: show the training of runs in TensorBoard, DVCLive, Weights & Biases or MLflow.

It reads the log that a training writes anyway, in a process of its own, and so changes no number.

Example: `sentbench follow simcse-small__words-50d__s0 --to tensorboard --out board`
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.paths import ARTEFACTS, RESUME, RUN_LOG, need_checkout
from harness.plan.entries import Params, read_params
from harness.process import compute_with, quiet

PAUSE = 1.0
"""Seconds between two looks at a training that runs."""
CONTINUES = "what was shown stays"

Steps = Iterator[tuple[int, dict[str, float]]]
"""Each entry of a log: its step and its numbers."""


def execute(arguments: argparse.Namespace) -> None:
    """Shows the steps so far of each run, or until its training has ended."""
    need_checkout("following a training")
    params = read_params()
    for key in arguments.keys:
        params.run(key)
        if (arguments.out / key).exists():
            raise InputError(
                f"{arguments.out / key}: exists already, expected a new folder; name another --out"
            )
    try:
        tool = import_module({"tensorboard": "torch.utils.tensorboard"}.get(arguments.to, arguments.to))
    except ImportError:
        raise InputError(
            f"{arguments.to} is not installed, expected it; run "
            f"`{sys.executable} -m pip install {arguments.to}`"
        ) from None
    for key in arguments.keys:
        steps = entries_of(params, key, live=arguments.live)
        shown = len(list(TOOLS[arguments.to](tool, arguments.out / key, key, steps)))
        print(f"{key}: {shown} entries to {arguments.out / key}")


def entries_of(params: Params, key: str, *, live: bool) -> Steps:
    """Yields step and numbers of each entry of a run's log; what a killed training repeats comes once.

    live: wait for more until the artefact of the run is there. Errors: InputError without a log or `live`.
    """
    seen: set[tuple[int, bool]] = set()
    while True:
        finished = (ARTEFACTS / key / RUN_LOG).is_file()
        log = ARTEFACTS / key / RUN_LOG if finished else running_log(params, key)
        if log is None and not live:
            raise InputError(f"{key}: no log of a training yet, expected one; train it, or give --live")
        for entry in read_entries(log) if log else ():
            step, evaluated = int(entry.pop("step")), bool(entry.pop("evaluation", False))
            if (step, evaluated) not in seen:
                seen.add((step, evaluated))
                prefix = "dev" if evaluated else "train"
                yield step, {f"{prefix}/{name}": float(value) for name, value in entry.items()}
        if finished or not live:
            return
        time.sleep(PAUSE)


def read_entries(log: Path) -> list[dict[str, Any]]:
    """Returns the entries of a log; a last line that is not whole yet is left for later."""
    try:
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    except FileNotFoundError:  # the training has ended and moved it
        return []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def running_log(params: Params, key: str) -> Path | None:
    """Returns the log of a training that runs or was killed, None without one."""
    from harness.identity import arithmetic_used, run_identity

    run = params.run(key)
    compute_with(run.arithmetic)
    for arithmetic in {arithmetic_used(device) for device in ("cpu", "cuda")}:
        log = RESUME / run_identity(params, run, arithmetic) / RUN_LOG
        if log.is_file():
            return log
    return None


def tensorboard(tool: Any, folder: Path, key: str, steps: Steps) -> Iterator[int]:
    """Writes event files."""
    quiet()
    with tool.SummaryWriter(log_dir=str(folder)) as writer:
        for step, numbers in steps:
            for name, value in numbers.items():
                writer.add_scalar(name, value, step)
            yield step


def dvclive(tool: Any, folder: Path, key: str, steps: Steps) -> Iterator[int]:
    """Writes DVCLive's files; the project's dvc.yaml and experiments stay as they are."""
    with tool.Live(str(folder), save_dvc_exp=False, dvcyaml=None, report=None) as live:
        for step, numbers in steps:
            live.step = step
            for name, value in numbers.items():
                live.log_metric(name, value)
            yield step


def wandb(tool: Any, folder: Path, key: str, steps: Steps) -> Iterator[int]:
    """Writes a run that `wandb sync` uploads."""
    folder.mkdir(parents=True)
    run = tool.init(project="sentbench", name=key, dir=str(folder), mode="offline")
    for step, numbers in steps:
        run.log(numbers, step=step)
        yield step
    run.finish()


def mlflow(tool: Any, folder: Path, key: str, steps: Steps) -> Iterator[int]:
    """Writes a run into a tracking store of files."""
    folder.mkdir(parents=True)
    tool.set_tracking_uri(f"sqlite:///{folder.resolve() / 'mlflow.db'}")
    with tool.start_run(run_name=key):
        for step, numbers in steps:
            tool.log_metrics(numbers, step=step)
            yield step


TOOLS = {"tensorboard": tensorboard, "dvclive": dvclive, "wandb": wandb, "mlflow": mlflow}
"""Shows a run in each tool, and yields the step of each entry once it is shown."""
ARGUMENTS = {
    "keys": {"nargs": "+", "metavar": "RUN", "help": "as `sentbench list runs` names it"},
    "--to": {"required": True, "choices": list(TOOLS), "help": "its package has to be installed"},
    "--out": {"required": True, "type": Path, "metavar": "DIR", "help": "a run goes to DIR/RUN"},
    "--live": {"action": "store_true", "help": "wait until the trainings have ended"},
}
