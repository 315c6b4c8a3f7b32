"""`sentbench train`: train one run of params.yaml.

Example: `sentbench train simcse-small__minilm-l2__s0 --out artefacts/simcse-small__minilm-l2__s0 --resume`
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.disk.files import disk_errors, write_record
from harness.disk.inputs import check_inputs
from harness.disk.layouts import ARTEFACT
from harness.disk.locks import alone
from harness.disk.outputs import check_file, check_folder, new_outputs, room_of
from harness.disk.records import write_manifest
from harness.identity import (
    arithmetic_used,
    existing_folder,
    kept_gpu_layers,
    kept_products,
    library_versions,
    run_identity,
)
from harness.paths import COSTS, LAST_WEIGHTS, PIECES, RESUME, RUN_LOG, RUN_RECORD, TEACHERS
from harness.plan.entries import Params, Run, read_plan
from harness.process import (
    DEVICE,
    compute_with,
    device_for,
    give_back_freed_memory,
    gpu_versions,
    in_effect,
    quiet,
    resolve_device,
)
from harness.stages.teacher import check_teacher
from methods.core.errors import NotFiniteError
from methods.core.fast.choices import use_for_training, use_on_gpu

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
    device, resume = arguments.device, arguments.resume
    print(train(read_plan(), arguments.run, arguments.out, device=device, resume=resume))


def train(params: Params, key: str, folder: Path, *, device: str, resume: bool) -> Path:
    """Trains run `key` and writes its artefact: the selected encoder, `last/`, `train.jsonl`, `run.json`.

    With `resume` a killed run continues from its last resume point, which belongs to the run's identity; the
    result has the bytes of an uninterrupted run.
    """
    run = params.run(key)
    compute_with(run.arithmetic)
    device = resolve_device(device_for(run.arithmetic, device))
    run.read_settings()
    check_outputs(folder, COSTS / f"{key}.train.json", weights=existing_folder(run.backbone))
    choose_kernels()
    named = run_identity(params, run, arithmetic_used(device))
    check_needs(params, run)
    with alone(f"training {key}"), disk_errors(RESUME / named):
        return _train(run, key, folder, named, device=device, resume=resume)


def _train(run: Run, key: str, folder: Path, named: str, *, device: str, resume: bool) -> Path:
    from harness.compute.rows import read_rows

    state, cost_file = RESUME / named, COSTS / f"{key}.train.json"
    if not resume:
        shutil.rmtree(state, ignore_errors=True)
    started = time.monotonic()
    trainer = build_trainer(run, state, device=device)
    rows = read_rows(Path(run.corpus), share=run.corpus_share, seed=run.seed)
    new = not state.exists()
    try:
        trainer.fit(rows)
    except NotFiniteError:
        if new:  # whoever continues it would meet the same
            shutil.rmtree(state, ignore_errors=True)
        raise
    with new_outputs({folder: ARTEFACT, cost_file: None}) as parts:
        part = parts[folder]
        shutil.copytree(trainer.best_folder, part, dirs_exist_ok=True)
        if run.weights != "best-dev" and trainer.plan.total:
            shutil.copytree(trainer.folder.last, part / LAST_WEIGHTS)
        shutil.copy(state / RUN_LOG, part / RUN_LOG)
        write_manifest(part / RUN_RECORD, _description(run, key, named, trainer, len(rows), device))
        cost = {
            "train_seconds": round(time.monotonic() - started, 1),
            "steps": trainer.record.step,
            "device": device,
            **gpu_memory(device),
        }
        write_record(parts[cost_file], cost)
    shutil.rmtree(state, ignore_errors=True)
    return folder


def choose_kernels() -> None:
    """Chooses what computes layers in training: under native arithmetic what `sentbench calibrate` keeps."""
    use_for_training("torch" if in_effect() == "native" and kept_products() == "torch" else "onednn")
    use_on_gpu(kept_gpu_layers())


def gpu_memory(device: str) -> dict[str, int]:
    """Returns the most bytes that this process has held of its GPU, and the GPU's bytes; {} on a CPU."""
    import torch

    if device == "cpu":
        return {}
    return {
        "peak_memory": torch.cuda.max_memory_reserved(),
        "card_memory": torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory,
    }


def check_outputs(folder: Path, cost_file: Path, *, weights: Path) -> None:
    """Raises InputError unless all that a training writes can be written.

    weights: the folder of the backbone. An artefact holds it twice, the resume state six times: the selected
    weights, the last and one copy that is being written, and parameters with two moments.
    """
    check_folder(folder, ARTEFACT, room=2 * room_of(weights))
    check_file(RESUME / "state", room=6 * room_of(weights))
    check_file(cost_file)


def check_needs(params: Params, run: Run) -> None:
    """Raises InputError if a folder that the run needs is damaged, or its teacher is not the planned one."""
    if Path(run.parent).parent == TEACHERS:
        check_teacher(params, Path(run.parent))
    check_inputs(*dict.fromkeys((run.backbone, run.corpus, run.parent)))


def build_trainer(run: Run, state: Path, *, device: str) -> Trainer:
    """Returns the trainer of a run; InputError if a folder of a network cannot be read."""
    from harness.compute.encoders import CheckedNetworks
    from harness.compute.train import build_trainer

    quiet()
    method, config, settings = run.read_settings()
    networks = CheckedNetworks(
        existing_folder(run.backbone), pooling=run.pooling, parent=run.parent_folder, pieces=PIECES
    )
    return build_trainer(
        method,
        config,
        settings,
        networks,
        seed=run.seed,
        text=run.text,
        state=state,
        device=device,
        report=_evaluated,
    )


def _description(run: Run, key: str, named: str, trainer: Any, rows: int, device: str) -> dict[str, Any]:
    record = trainer.record
    return {
        "key": key,
        "id": run.id,
        "method": run.method,
        "variant": run.variant,
        "backbone": run.backbone_name,
        "seed": run.seed,
        "recipe": run.recipe_hash(),
        "identity": named,
        "rows": rows,
        "device": device,
        "arithmetic": arithmetic_used(device),
        "precision": trainer.config.precision,
        "text": run.text,
        "versions": library_versions() | gpu_versions(device),
        "config": run.config,
        "train": run.train,
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
    end = "\r" if sys.stderr.isatty() and step < total else "\n"
    print(f"step {step}/{total}  STS-B dev {100 * entry['score']:.2f}", end=end, file=sys.stderr, flush=True)
