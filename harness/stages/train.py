"""`sentbench stage train`: pipeline stage that trains one run of params.yaml.

Example: `sentbench stage train simcse-small__words-50d__s0 --out artefacts/simcse-small__words-50d__s0`
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.io.files import disk_errors, write_manifest, write_record
from harness.io.layouts import ARTEFACT
from harness.io.locks import alone
from harness.io.outputs import check_file, check_folder, new_outputs, room_of
from harness.paths import COSTS, LAST_WEIGHTS, PIECES, RESUME, RUN_LOG, RUN_RECORD
from harness.plan.entries import Params, Run
from harness.plan.params_file import read_plan
from harness.process import (
    DEVICE,
    compute_on,
    give_back_freed_memory,
    gpu_versions,
    quiet,
)
from harness.stages.identity import (
    arithmetic_used,
    library_versions,
    run_identity,
)
from methods.core.errors import NotFiniteError

if TYPE_CHECKING:
    from methods.core.trainer import Trainer


CONTINUES = "the same command with --resume continues the training to the same bytes"
ARGUMENTS = {
    "run": {"metavar": "RUN"},
    "--out": {"type": Path, "required": True, "metavar": "DIR"},
    "--device": DEVICE,
    "--resume": {"action": "store_true", "help": "continue where a killed run stopped"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Trains the run and prints the folder of its artefact."""
    params = read_plan()
    device = compute_on(params.run(arguments.run).arithmetic, arguments.device)
    print(train(params, arguments.run, arguments.out, device=device, resume=arguments.resume))


def train(params: Params, key: str, folder: Path, *, device: str, resume: bool) -> Path:
    """Trains run `key` and writes its artefact: the selected encoder, `last/`, `train.jsonl`, `run.json`.

    device: `cpu` or `cuda`, of a process that computes with the run's arithmetic (see `compute_on`). With
    `resume` a killed run continues from its last resume point, which belongs to the run's identity; the
    result is byte-identical to an uninterrupted run.
    """
    run = params.run(key)
    described = run.described(key)
    settings = run.read_settings()
    cost_file = COSTS / f"{key}.train.json"
    check_outputs(folder, cost_file, weights=Path(run.backbone))
    identity = run_identity(params, run, arithmetic_used(device))
    state = RESUME / identity
    with alone(f"training {identity}", shown=f"training {key}"), disk_errors(state):
        from harness.data.corpora import read_corpus
        from methods.core.streams import subset

        if not resume:
            shutil.rmtree(state, ignore_errors=True)
        new, started = not state.exists(), time.monotonic()
        trainer = build_trainer(run, settings, state, device=device)
        rows = subset(read_corpus(Path(run.corpus)), run.corpus_share, seed=run.seed)
        try:
            trainer.fit(rows)
        except NotFiniteError:
            if new:  # resuming would fail again
                shutil.rmtree(state, ignore_errors=True)
            raise
        with new_outputs({folder: ARTEFACT, cost_file: None}) as parts:
            part = parts[folder]
            shutil.copytree(trainer.best_folder, part, dirs_exist_ok=True)
            if run.weights != "best-dev" and trainer.plan.total:
                shutil.copytree(trainer.folder.last, part / LAST_WEIGHTS)
            shutil.copy(state / RUN_LOG, part / RUN_LOG)
            trained = {"identity": identity, "rows": len(rows), **_outcome(trainer, device)}
            write_manifest(part / RUN_RECORD, {**described, **trained})
            cost = {
                "train_seconds": round(time.monotonic() - started, 1),
                "steps": trainer.record.step,
                "device": device,
                **gpu_memory(device),
            }
            write_record(parts[cost_file], cost)
        shutil.rmtree(state, ignore_errors=True)
    return folder


def gpu_memory(device: str) -> dict[str, int]:
    """Returns the peak GPU memory of this process and the GPU's memory, in bytes; {} on a CPU."""
    import torch

    if device == "cpu":
        return {}
    return {
        "peak_memory": torch.cuda.max_memory_reserved(),
        "card_memory": torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory,
    }


def check_outputs(folder: Path, cost_file: Path, *, weights: Path) -> None:
    """Raises InputError unless all outputs of a training can be written. weights: the folder of the
    backbone. An artefact has the weights twice, the resume state six times: the selected weights, the last
    weights and a copy being written, and parameters with two moments.
    """
    check_folder(folder, ARTEFACT, room=2 * room_of(weights))
    check_file(RESUME / "state", room=6 * room_of(weights))
    check_file(cost_file)


def build_trainer(run: Run, settings: tuple[Any, Any, Any], state: Path, *, device: str) -> Trainer:
    """Returns the trainer of a run; InputError if a folder of a network cannot be read.

    settings: as `Run.read_settings` returns them. state: folder of the resume points.
    """
    from harness.compute.encoders import CheckedNetworks
    from harness.compute.train import build_trainer

    quiet()
    networks = CheckedNetworks(
        Path(run.backbone), pooling=run.pooling, parent=run.parent_folder, pieces=PIECES
    )
    return build_trainer(
        *settings,
        networks,
        seed=run.seed,
        text=run.text,
        state=state,
        device=device,
        report=_evaluated,
    )


def _outcome(trainer: Trainer, device: str) -> dict[str, Any]:
    """Returns the record of a training in its artefact, in addition to the run's entry."""
    record = trainer.record
    return {
        "device": device,
        "arithmetic": arithmetic_used(device),
        "precision": trainer.config.precision,
        "versions": library_versions() | gpu_versions(device),
        "selection": {
            "best_step": record.best_step,
            "best_dev": record.best,
            "last_step": record.step,
            "last_dev": record.last,
            "initial_dev": record.initial,
        },
    }


def _evaluated(step: int, total: int, entry: Mapping[str, float]) -> None:
    give_back_freed_memory()
    if math.isnan(entry["score"]):
        print(
            f"step {step}/{total}  STS-B dev not defined: training ends, earlier weights are kept",
            file=sys.stderr,
            flush=True,
        )
        return
    end = "\r" if sys.stderr.isatty() and step < total else "\n"
    print(f"step {step}/{total}  STS-B dev {100 * entry['score']:.2f}", end=end, file=sys.stderr, flush=True)
