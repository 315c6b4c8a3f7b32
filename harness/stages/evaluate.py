"""`sentbench stage evaluate`: pipeline stage that scores the encoder of one run of params.yaml.

Example: `sentbench stage evaluate simcse-small__words-50d__s0`

It also provides the vectors of any other folder.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from harness.compute import evaluate as compute
from harness.data.download import NotFetched, folder_of
from harness.errors import InputError
from harness.evidence.curves import EVALUATIONS, LOSSES, losses_of
from harness.evidence.schema import SCHEMA, Provenance, ResultFile, RunRecord, ScoreRecord, Selection
from harness.evidence.store import write_result
from harness.io.files import sha256_of, sha256_of_folder, write_record
from harness.io.layouts import read_artefact
from harness.io.locks import alone
from harness.io.outputs import check_file, new_outputs
from harness.paths import (
    ARTEFACTS,
    COSTS,
    CURVES,
    LAST_WEIGHTS,
    PIECES,
    RUN_LOG,
    SCORES,
    VECTORS,
    stored_vectors,
)
from harness.plan.entries import Params
from harness.plan.params_file import read_plan
from harness.process import DEVICE, compute_on, quiet, resolve_device
from harness.stages.identity import run_code, vectors_identity
from harness.tasks.evaluation import evaluate_stored
from harness.tasks.interface import Encode, Task
from harness.tasks.own_pairs import is_own
from harness.tasks.registry import build_tasks

OFFLINE = "STSB,sts-part"
"""Tasks whose data come from the package registry: they run without access to the hub."""
CONTINUES = "the same command encodes only what is not stored yet"
ARGUMENTS = {"run": {"metavar": "RUN"}, "--device": DEVICE}


def execute(arguments: argparse.Namespace) -> None:
    """Scores artefacts/RUN on the run's tasks."""
    params = read_plan()
    device = compute_on(params.run(arguments.run).arithmetic, arguments.device)
    folder = ARTEFACTS / arguments.run
    if not folder.is_dir():
        raise InputError(f"{folder}: missing encoder; run `dvc repro train@{arguments.run}`")
    with alone(f"evaluating {arguments.run}"):
        print(evaluate_run(params, arguments.run, folder, device=device))


def evaluate_run(params: Params, key: str, folder: Path, *, device: str) -> Path:
    """Evaluates run `key` on its tasks: reports/{scores,curves,losses}/KEY.json and the stored vectors.

    device: `cpu` or `cuda`, of a process that computes with the run's arithmetic (see `compute_on`).
    """
    run, entry = params.run(key), read_artefact(folder)
    if entry["key"] != key:
        raise InputError(f"{folder}: holds run {entry['key']!r}, expected {key!r}; train it again")
    started = time.monotonic()
    quiet()
    tasks = build_tasks(run.tasks, text=run.text)
    record = f"{key}.json"
    scores, curves, losses = SCORES / record, CURVES / record, LOSSES / record
    costs, vectors = COSTS / f"{key}.evaluate.json", stored_vectors(key)
    outputs = (scores, curves, losses, costs, vectors)
    for path in outputs:
        check_file(path)
    records: list[ScoreRecord] = []
    with new_outputs(dict.fromkeys(outputs)) as new:
        for selection, weights in _weights(run.weights, folder):
            selected = selection == "best-dev" or run.weights == "last"
            with compute.embedded(
                partial(compute.load_artefact, weights, device, pieces=PIECES),
                tasks,
                path=new[vectors] if selected else None,
                cache=VECTORS,
                identity=vectors_identity(weights, device=device),
            ) as store:
                records += [
                    ScoreRecord(selection=selection, **score._asdict())
                    for score in evaluate_stored(tasks, store.encode)
                ]
        write_result(new[scores], _result(folder, entry, tasks, records))
        write_record(new[curves], {EVALUATIONS: compute.evaluations(folder / RUN_LOG)})
        write_record(new[costs], {"evaluate_seconds": round(time.monotonic() - started, 1)})
        write_record(new[losses], {"losses": losses_of(folder / RUN_LOG)})
    return scores


@contextmanager
def vectors_of(
    folder: Path,
    tasks: Sequence[Task],
    *,
    pooling: str | None = None,
    device: str = "auto",
    batch_size: int | None = None,
) -> Iterator[Encode]:
    """Yields a function from texts to vectors of an encoder folder, with each text encoded once. Errors:
    InputError if the folder has no encoder.
    """
    from harness.compute.encoders import read_encoder

    quiet()
    device_used = resolve_device(device)
    with compute.embedded(
        lambda: read_encoder(folder, pooling=pooling).to(device_used), tasks, batch_size=batch_size
    ) as store:
        yield store.encode


def tasks_named(names: Sequence[str], *, text: str) -> list[Task]:
    """Returns the tasks of names and suites. Errors: as of `build_tasks`; InputError for an empty list."""
    if not names:
        raise InputError("no tasks; see `sentbench list tasks`")
    return build_tasks(names, text=text)


def fetch_data(tasks: Sequence[Task]) -> None:
    """Fetches the data of tasks that are missing, so that data which no provider has are refused before a
    model is loaded. Errors: as of `folder_of`."""
    for source in sorted({task.source for task in tasks if not is_own(task)}):
        folder_of(source)


@contextmanager
def offline_first(names: Sequence[str]) -> Iterator[None]:
    """Adds the tasks that need neither hub nor mirror to the error about a missing source."""
    try:
        yield
    except NotFetched as error:
        if set(names) <= set(OFFLINE.split(",")):
            raise
        raise NotFetched(f"the tasks {OFFLINE} need neither hub nor mirror; {error}") from None


def encoder_hash(folder: Path) -> str:
    """Returns the sha256 of the encoder's weights; a folder may hold other runs' weights below `last/`."""
    for name in ("model.safetensors", "transformer/model.safetensors", "vectors.safetensors"):
        if (folder / name).is_file():
            return sha256_of(folder / name)
    return sha256_of_folder(folder)


def _weights(wanted: str, folder: Path) -> list[tuple[Any, Path]]:
    last = folder / LAST_WEIGHTS
    if wanted == "best-dev" or not last.is_dir():
        return [("best-dev", folder)]
    return [("last", last)] if wanted == "last" else [("best-dev", folder), ("last", last)]


def _result(
    folder: Path, record: dict[str, Any], tasks: Sequence[Task], scores: list[ScoreRecord]
) -> ResultFile:
    sources = sorted({task.source for task in tasks})
    return ResultFile(
        schema=SCHEMA,
        run=RunRecord(**{name: record[name] for name in RunRecord.model_fields}),
        scores=scores,
        selection=Selection(**record["selection"]),
        provenance=Provenance(
            code_sha256=run_code(record["method"], [task.name for task in tasks]),
            encoder_sha256=encoder_hash(folder),
            data_sha256={source: sha256_of_folder(folder_of(source)) for source in sources},
            **{name: record[name] for name in ("versions", "device", "arithmetic", "precision", "text")},
        ),
    )
