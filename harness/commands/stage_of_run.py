"""Training and evaluation of one run: what surrounds the two stages and decides no number."""

import math
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from harness.commands.waiting import waiting
from harness.errors import InputError
from harness.evidence.curves import LOSSES
from harness.io.files import discard, disk_errors, sha256_of_folder, write_manifest, write_record
from harness.io.locks import alone
from harness.io.outputs import check_file, check_folder, new_outputs, room_of
from harness.io.records import check_present, read_object
from harness.paths import COSTS, CURVES, PIECES, RESUME, RUN_RECORD, VECTORS, stored_vectors
from harness.plan.entries import Params, Run
from harness.plan.identity import (
    arithmetic_used,
    encoder_hash,
    library_versions,
    run_code,
    run_identity,
    vectors_identity,
)
from harness.process import give_back_freed_memory, gpu_versions, quiet
from harness.stages.inputs import StageInputs
from harness.tasks.registry import build_tasks
from methods.core.errors import NotFiniteError

KEPT_OF = "run.txt"
"""File of a resume state with the key of its run."""


def train(params: Params, key: str, folder: Path, *, device: str, resume: bool) -> Path:
    """Writes the artefact of run `key`: the selected encoder, `last/`, `train.jsonl` and `run.json`.

    device: `cpu` or `cuda`, of a process that computes with the run's arithmetic (see `compute_on`). With
    `resume` a killed run continues from its last resume point, which belongs to the run's identity; the
    result is byte-identical to an uninterrupted run.
    """
    run, cost_file = params.run(key), COSTS / f"{key}.train.json"
    run.read_settings()
    _check_outputs(folder, cost_file, weights=Path(run.backbone))
    identity = run_identity(params, run, arithmetic_used(device))
    state = RESUME / identity
    with alone(f"training {identity}", shown=f"training {key}"), disk_errors(state):
        if not resume:
            remove_state(state)
        _tell_outdated(key, identity)
        new, started = not state.exists(), time.monotonic()
        quiet()
        with waiting("loading libraries"):
            from harness.stages.train import run as perform

        with _removed_after_nan(state, new), work_folder(identity) as made:
            trained = perform(_of_training(run, made, state, device, key))
            stated = {
                **run.described(key),
                "identity": identity,
                "device": device,
                "arithmetic": arithmetic_used(device),
                "versions": library_versions() | gpu_versions(device),
            }
            seconds = {"train_seconds": round(time.monotonic() - started, 1)}
            cost = {"steps": trained["selection"]["last_step"], "device": device, **gpu_memory(device)}
            with new_outputs({folder: RUN_RECORD, cost_file: None}) as parts:
                shutil.copytree(made, parts[folder], dirs_exist_ok=True, copy_function=shutil.move)
                write_manifest(parts[folder] / RUN_RECORD, stated | trained)
                write_record(parts[cost_file], seconds | cost)
        remove_state(state)
    return folder


def evaluate(params: Params, key: str, folder: Path, *, device: str) -> Path:
    """Evaluates run `key` on its tasks: scores, curves and losses below the run's folder of outputs, and the
    stored vectors.

    device: `cpu` or `cuda`, of a process that computes with the run's arithmetic (see `compute_on`).
    """
    run = params.run(key)
    check_present(folder)
    artefact = read_object(folder / RUN_RECORD, "key", "selection", again="train the run again")
    if artefact["key"] != key:
        raise InputError(f"{folder}: holds run {artefact['key']!r}, expected {key!r}; train it again")
    started = time.monotonic()
    quiet()
    with waiting("loading libraries"):
        from harness.stages import evaluate as stage

    record, reports = f"{key}.json", Path(run.outputs)
    outputs = {
        run.scores(key): stage.SCORES_FILE,
        reports / CURVES.name / record: stage.CURVES_FILE,
        reports / LOSSES.name / record: stage.LOSSES_FILE,
        stored_vectors(key): stage.VECTORS_FILE,
    }
    costs = COSTS / f"{key}.evaluate.json"
    for path in (*outputs, costs):
        check_file(path)
    folders = {"artefact": folder, "pieces": PIECES, "vectors": VECTORS}
    with (
        work_folder(key) as made,
        new_outputs(dict.fromkeys((*outputs, costs))) as new,
    ):
        stated = {"artefact": artefact, "provenance": _provenance(run, folder, artefact)}
        identity = partial(vectors_identity, device=device)
        stage.run(StageInputs(run, folders, made, device, stated, vectors_key=identity))
        for path, name in outputs.items():
            shutil.move(made / name, new[path])
        write_record(new[costs], {"evaluate_seconds": round(time.monotonic() - started, 1)})
    return run.scores(key)


def gpu_memory(device: str) -> dict[str, int]:
    """Returns the peak GPU memory of this process and the GPU's memory, in bytes; {} on a CPU."""
    import torch

    if device == "cpu":
        return {}
    return {
        "peak_memory": torch.cuda.max_memory_reserved(),
        "card_memory": torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory,
    }


def _check_outputs(folder: Path, cost_file: Path, *, weights: Path) -> None:
    """Raises InputError unless all outputs of a training can be written. weights: the folder of the
    backbone. An artefact has the weights twice, the resume state six times: the selected weights, the last
    weights and a copy being written, and parameters with two moments.
    """
    check_folder(folder, RUN_RECORD, room=2 * room_of(weights))
    check_file(RESUME / "state", room=6 * room_of(weights))
    check_file(cost_file)


def _of_training(run: Run, out: Path, state: Path, device: str, key: str) -> StageInputs:
    def evaluated(step: int, total: int, measures: Mapping[str, float]) -> None:
        (state / KEPT_OF).write_text(key, encoding="utf-8")
        give_back_freed_memory()
        _show(step, total, measures["score"])

    folders = {**run.folders(), "pieces": PIECES, "state": state}
    return StageInputs(run, folders, out, device, evaluated=evaluated)


def _show(step: int, total: int, score: float) -> None:
    if math.isnan(score):
        text, end = "not defined: training ends, earlier weights are kept", "\n"
    else:
        text, end = f"{100 * score:.2f}", "\r" if sys.stderr.isatty() and step < total else "\n"
    print(f"step {step}/{total}  STS-B dev {text}", end=end, file=sys.stderr, flush=True)


@contextmanager
def work_folder(name: str) -> Iterator[Path]:
    """Yields an empty folder for the files of a stage, on the project's disk; the next call of this name
    removes what a killed one left.
    """
    folder = RESUME / f"{name}.out"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_state(state: Path) -> None:
    """Removes a resume state, its record first: a training refuses a record whose files are missing, and
    starts again without one."""
    from methods.core.resume import STATE

    discard(state / STATE)
    discard(state)


@contextmanager
def _removed_after_nan(state: Path, new: bool) -> Iterator[None]:
    """Removes a new resume state if the block ends with a loss that is not finite: resuming would fail."""
    try:
        yield
    except NotFiniteError:
        if new:
            remove_state(state)
        raise


def _tell_outdated(key: str, identity: str) -> None:
    """Prints a line for each resume state of the run under another identity; the training ignores it."""
    for kept in sorted(RESUME.glob(f"*/{KEPT_OF}")):
        if kept.parent.name != identity and kept.read_text(encoding="utf-8", errors="replace") == key:
            print(
                f"sentbench: {kept.parent}: a killed training of {key} with other code, settings or data; "
                "it is not continued, delete the folder",
                file=sys.stderr,
            )


def _provenance(run: Run, folder: Path, artefact: Mapping[str, Any]) -> dict[str, Any]:
    from harness.data.download import folder_of

    tasks = build_tasks(run.tasks, text=run.text)
    sources = sorted({task.source for task in tasks})
    stated = ("versions", "device", "arithmetic", "precision", "text")
    return {
        "code_sha256": run_code(artefact["method"], [task.name for task in tasks]),
        "encoder_sha256": encoder_hash(folder),
        "data_sha256": {source: sha256_of_folder(folder_of(source)) for source in sources},
        **{name: artefact[name] for name in stated},
    }
