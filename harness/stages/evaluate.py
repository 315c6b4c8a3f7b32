"""Stage `evaluate`: a folder of an encoder becomes scores; and the same for any folder of a user's own."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.errors import InputError
from harness.files import sha256_of, sha256_of_folder, write_json
from harness.fingerprint import fingerprint
from harness.outputs import check_addition, check_file, new_outputs
from harness.plan.entries import Params, Run
from harness.results.embeddings import META, EmbeddingStore
from harness.results.provenance import git_state, library_versions
from harness.results.schema import SCHEMA, Provenance, ResultFile, RunRecord, ScoreRecord, Selection
from harness.results.store import write_result
from harness.stages.train import COSTS, DESCRIPTION, quiet, resolve_device
from harness.tasks.evaluation import evaluate_stored, unique_texts
from harness.tasks.interface import Score, Task
from harness.tasks.registry import build_tasks

SCORES, CURVES, EMBEDDINGS = Path("reports/scores"), Path("reports/curves"), Path("embeddings")
LOG = "train.jsonl"


class Artefact(NamedTuple):
    """What the train stage wrote about one run."""

    folder: Path
    about: dict[str, Any]


def read_artefact(folder: Path) -> Artefact:
    """Returns a run's folder with its description; InputError if the folder is not one of ours."""
    place = folder / DESCRIPTION
    if not place.is_file():
        raise InputError(f"{folder}: no {DESCRIPTION}, expected the artefact of a run; train it first")
    return Artefact(folder, json.loads(place.read_text(encoding="utf-8")))


def evaluate_run(params: Params, key: str, folder: Path, *, device: str = "auto") -> Path:
    """Evaluates run `key` on its tasks: reports/scores/KEY.json, reports/curves/KEY.jsonl, embeddings/KEY."""
    run, artefact = params.run(key), read_artefact(folder)
    if artefact.about["key"] != key:
        raise InputError(f"{folder}: holds run {artefact.about['key']!r}, expected {key!r}; train it again")
    started = time.monotonic()
    outputs = [SCORES / f"{key}.json", CURVES / f"{key}.jsonl", COSTS / f"{key}.evaluate.json"]
    for path in outputs:
        check_file(path)
    check_addition(EMBEDDINGS / key)
    tasks = build_tasks(run.tasks, text=run.text)
    scores: list[ScoreRecord] = []
    for selection, weights in _weights(run, folder):
        keep = EMBEDDINGS / key if selection == "best-dev" or run.weights == "last" else None
        with embedded(weights, tasks, device=device, keep=keep) as store:
            scores += [
                ScoreRecord(selection=selection, **score._asdict())
                for score in evaluate_stored(tasks, store.encode)
            ]
    with new_outputs(dict.fromkeys(outputs)) as parts:
        write_result(parts[outputs[0]], _result(artefact, tasks, scores))
        parts[outputs[1]].write_text("".join(_evaluations(folder / LOG)), encoding="utf-8")
        write_json(parts[outputs[2]], {"evaluate_seconds": round(time.monotonic() - started, 1)})
    return outputs[0]


def evaluate_folder(
    folder: Path,
    *,
    names: Sequence[str],
    text: str,
    pooling: str | None,
    from_store: bool,
    device: str = "auto",
) -> list[Score]:
    """Returns the scores of any encoder folder; with `from_store` from kept vectors, without a model."""
    if not names:
        raise InputError("no task is named, expected at least one; see `sentbench list tasks`")
    tasks = build_tasks(names, text=text)
    if from_store:
        store = EmbeddingStore.load(folder if (folder / META).is_file() else EMBEDDINGS / folder.name)
        return evaluate_stored(tasks, store.encode)
    with embedded(folder, tasks, device=device, pooling=pooling) as store:
        return evaluate_stored(tasks, store.encode)


@contextmanager
def embedded(
    folder: Path,
    tasks: Sequence[Task],
    *,
    device: str = "auto",
    pooling: str | None = None,
    keep: Path | None = None,
) -> Iterator[EmbeddingStore]:
    """Yields a store with the vector of every text the tasks will ask for, each unique text encoded once.

    It lies in `keep`, where a second evaluation of the same encoder finds it and loads no model, or in a
    folder of the system's for temporary files (TMPDIR) that is removed at the end.
    """
    device = resolve_device(device)
    model = [] if keep else [_loaded(folder, pooling, device)]  # a wrong folder is told before data is read

    def encode(texts: Sequence[str]) -> np.ndarray:
        if not model:
            model.append(_loaded(folder, pooling, device))
        vectors: np.ndarray = model[0].encode(texts, progress=True)
        return vectors

    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        named = vectors_identity(folder, pooling=pooling, device=device) if keep else ""
        store = EmbeddingStore.open_or_create(keep or Path(scratch, "store"), encoder=named)
        for path in store.damaged:
            print(f"{path}: damaged, expected whole vectors; its texts are encoded again", file=sys.stderr)
        store.complete(unique_texts(tasks), encode)
        model.clear()
        yield store


def vectors_identity(folder: Path, *, pooling: str | None, device: str) -> str:
    """Returns the sha256 of all that determines an encoder's vectors: its files, the code, the libraries.

    Other runs' weights below `last/` and what training wrote about itself do not count.
    """
    import methods.core

    about = ("last", DESCRIPTION, LOG)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path: path.relative_to(folder) for path in files}
    parts = {
        "files": {
            name.as_posix(): sha256_of(path) for path, name in names.items() if name.parts[0] not in about
        },
        "code": fingerprint([Path(methods.core.__file__).parent]),
        "versions": library_versions(),
        "pooling": pooling,
        "device": device,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def encoder_hash(folder: Path) -> str:
    """Returns the sha256 of the encoder's weights; a folder may hold other runs' weights below `last/`."""
    for name in ("model.safetensors", "transformer/model.safetensors", "vectors.safetensors"):
        if (folder / name).is_file():
            return sha256_of(folder / name)
    return sha256_of_folder(folder)


def _loaded(folder: Path, pooling: str | None, device: str) -> Any:
    from methods.core.folders import load_encoder

    quiet()
    return load_encoder(folder, pooling=pooling).to(device)


def _weights(run: Run, folder: Path) -> list[tuple[Any, Path]]:
    last = folder / "last"
    if run.weights == "best-dev" or not last.is_dir():
        return [("best-dev", folder)]
    return [("last", last)] if run.weights == "last" else [("best-dev", folder), ("last", last)]


def _result(artefact: Artefact, tasks: Sequence[Task], scores: list[ScoreRecord]) -> ResultFile:
    from harness.data.download import folder_of

    about = artefact.about
    commit, dirty = git_state()
    sources = sorted({task.source for task in tasks})
    return ResultFile(
        schema=SCHEMA,
        run=RunRecord(**{name: about[name] for name in RunRecord.model_fields}),
        scores=scores,
        selection=Selection(**about["selection"]),
        provenance=Provenance(
            git_commit=commit,
            git_dirty=dirty,
            encoder_sha256=encoder_hash(artefact.folder),
            data_sha256={source: sha256_of_folder(folder_of(source)) for source in sources},
            versions=about["versions"],
            device=about["device"],
            precision=about["precision"],
            text=about["text"],
        ),
    )


def _evaluations(log: Path) -> list[str]:
    """Returns the lines of a training log that are evaluations: what the report's curves need."""
    return [line for line in log.read_text(encoding="utf-8").splitlines(True) if '"evaluation": true' in line]
