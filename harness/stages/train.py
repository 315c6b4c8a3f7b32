"""Stage `train`: one run of params.yaml becomes the folder artefacts/KEY."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.device import quiet, resolve_device
from harness.errors import InputError
from harness.files import disk_errors, sha256_of_folder, write_json
from harness.fingerprint import fingerprint
from harness.layouts import ARTEFACT
from harness.locks import alone
from harness.outputs import check_file, check_folder, new_outputs, room_of
from harness.paths import COSTS, DATA, LAST_WEIGHTS, RESUME, RUN_LOG, RUN_RECORD, TEACHERS
from harness.plan.entries import Params, Run
from harness.results.provenance import library_versions
from harness.stages.teacher import check_teacher


def read_rows(corpus: Path, *, share: float = 1.0, seed: int = 0) -> list[Any]:
    """Returns the corpus as rows; a share of it is a nested random subset that keeps the rows' indices."""
    from harness.data.corpora import corpus_file, read_corpus
    from methods.core.interface import Row
    from methods.core.streams import subset

    rows = [Row(index, text, others) for index, (text, others) in enumerate(read_corpus(corpus_file(corpus)))]
    return rows if share == 1.0 else [rows[place] for place in subset(seed, len(rows), share)]


def identity(params: Params, run: Run) -> str:
    """Returns the sha256 of everything that determines a run: code, settings, data, parents."""
    code = params.code[run.method]
    needs = {run.backbone, run.corpus, run.parent, *(str(DATA / name) for name in params.reads["selection"])}
    parts = {
        "code": fingerprint([Path(code.code), Path(code.base)]),
        "entry": run.training_entry(),
        "inputs": {path: sha256_of_folder(_existing(path)) for path in sorted(needs)},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def train(params: Params, key: str, folder: Path, *, device: str, resume: bool) -> Path:
    """Trains run `key` and writes its artefact: the selected encoder, `last/`, `train.jsonl`, `run.json`.

    With `resume` a killed run continues from its last resume point, which belongs to the run's identity; the
    result has the bytes of an uninterrupted run.
    """
    run = params.run(key)
    device = resolve_device(device)
    run.read_settings()
    check_outputs(folder, COSTS / f"{key}.train.json", weights=_existing(run.backbone))
    named = identity(params, run)
    with alone(f"training {key}"), disk_errors(RESUME / named):
        return _train(params, run, key, folder, named, device=device, resume=resume)


def _train(
    params: Params, run: Run, key: str, folder: Path, named: str, *, device: str, resume: bool
) -> Path:
    state, cost_file = RESUME / named, COSTS / f"{key}.train.json"
    if not resume:
        shutil.rmtree(state, ignore_errors=True)
    started = time.monotonic()
    trainer = build_trainer(params, run, state, device=device)
    rows = read_rows(Path(run.corpus), share=run.corpus_share, seed=run.seed)
    trainer.fit(rows)
    with new_outputs({folder: ARTEFACT, cost_file: None}) as parts:
        part = parts[folder]
        shutil.copytree(trainer.best_folder, part, dirs_exist_ok=True)
        if run.weights != "best-dev" and trainer.plan.total:
            shutil.copytree(trainer.last_folder, part / LAST_WEIGHTS)
        shutil.copy(state / RUN_LOG, part / RUN_LOG)
        write_json(part / RUN_RECORD, _description(run, key, named, trainer, len(rows), device))
        cost = {
            "train_seconds": round(time.monotonic() - started, 1),
            "steps": trainer.record.step,
            "device": device,
        }
        write_json(parts[cost_file], cost)
    shutil.rmtree(state, ignore_errors=True)
    return folder


def check_outputs(folder: Path, cost_file: Path, *, weights: Path) -> None:
    """Raises InputError unless all that a training writes can be written.

    weights: the folder of the backbone. An artefact holds it twice, the resume state six times: the selected
    weights, the last and one copy that is being written, and parameters with two moments.
    """
    check_folder(folder, ARTEFACT, room=2 * room_of(weights))
    check_file(RESUME / "state", room=6 * room_of(weights))
    check_file(cost_file)


def build_trainer(params: Params, run: Run, state: Path, *, device: str) -> Any:
    """Returns the trainer of a run with its method built under the run's initialisation seed."""
    import torch

    from methods.core.parents import EncoderFactory
    from methods.core.streams import INITIALISE, torch_seed
    from methods.core.trainer import Trainer

    quiet()
    method, config, settings = run.read_settings()
    if Path(run.parent).parent == TEACHERS:
        check_teacher(params, Path(run.parent))
    factory = EncoderFactory(_existing(run.backbone), pooling=run.pooling, parent=run.parent_folder)
    torch.manual_seed(torch_seed(run.seed, INITIALISE))
    built = method(config, factory)
    evaluate = dev_evaluation(run.text)
    return Trainer(built, settings, run.seed, evaluate, state, device=device, report=_print_progress)


def dev_evaluation(text: str) -> Callable[[Any], Mapping[str, float]]:
    """Returns what selection measures: STS-B dev Spearman as `score`, alignment and uniformity beside it."""
    from harness.tasks import build_tasks, evaluate_tasks

    tasks = build_tasks(["STSB-dev", "geometry-dev"], text=text)

    def evaluate(encoder: Any) -> dict[str, float]:
        scores = {(s.task, s.metric, s.setting): s.value for s in evaluate_tasks(tasks, encoder.encode)}
        return {
            "score": scores["STSB-dev", "spearman", "all"],
            "alignment": next(v for (_, metric, _), v in scores.items() if metric == "alignment"),
            "uniformity": next(v for (_, metric, _), v in scores.items() if metric == "uniformity"),
        }

    return evaluate


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
        "precision": trainer.config.precision,
        "text": run.text,
        "versions": library_versions(),
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


def _existing(path: str) -> Path:
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder, the run needs it; make it with `dvc repro`")
    return folder


def _print_progress(step: int, total: int, entry: Mapping[str, float]) -> None:
    end = "\r" if sys.stderr.isatty() and step < total else "\n"
    print(f"step {step}/{total}  STS-B dev {100 * entry['score']:.2f}", end=end, file=sys.stderr, flush=True)
