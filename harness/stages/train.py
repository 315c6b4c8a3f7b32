"""Training: the rows, the networks and the method of one run, and the encoder that is selected."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from harness.data.corpora import read_corpus
from harness.models.read import CheckedNetworks
from harness.stages.inputs import StageInputs
from harness.tasks.selection import dev_evaluation
from methods.core.method import Method
from methods.core.resume import LOG
from methods.core.rows import Row
from methods.core.streams import INITIALISE, subset, torch_seed
from methods.core.train_config import TrainConfig
from methods.core.trainer import Trainer
from methods.core.types import Encoder
from methods.registry import load_method


def run(inputs: StageInputs) -> dict[str, Any]:
    """Trains a run: writes the selected encoder, the last one below `last/` and the log `train.jsonl`.

    folders: backbone, corpus, state (of the resume points), and if the run has them parent and pieces (the
    cache of tokenised texts). A killed training continues from its state to the same bytes. Returns what the
    artefact's record states of the training.
    """
    entry, state = inputs.entry, inputs.folders["state"]
    trainer = build(inputs)
    rows = rows_of(entry, inputs.folders["corpus"])
    trainer.fit(rows)
    shutil.copytree(trainer.best_folder, inputs.out, dirs_exist_ok=True)
    if entry.weights != "best-dev" and trainer.plan.total:
        shutil.copytree(trainer.folder.last, inputs.out / trainer.folder.last.name)
    shutil.copy(state / LOG, inputs.out / LOG)
    record = trainer.record
    return {
        "rows": len(rows),
        "precision": trainer.config.precision,
        "selection": {
            "best_step": record.best_step,
            "best_dev": record.best,
            "last_step": record.step,
            "last_dev": record.last,
            "initial_dev": record.initial,
        },
    }


def build(
    inputs: StageInputs, *, evaluate: Callable[[Encoder], Mapping[str, float]] | None = None
) -> Trainer:
    """Returns the trainer of a run with its method; `run` and every check of trainings use it.

    evaluate: replaces the selection on STS-B dev. Errors: InputError for a setting that the method does not
    take, and for a folder of a network that cannot be read.
    """
    entry = inputs.entry
    return Trainer(
        build_method(entry, inputs.folders),
        TrainConfig.model_validate(entry.train),
        entry.seed,
        evaluate or dev_evaluation(entry.text),
        inputs.folders["state"],
        device=inputs.device,
        report=inputs.evaluated,
    )


def build_method(entry: Any, folders: Mapping[str, Path]) -> Method:
    """Returns the method of a run, with its weights drawn under the run's initialisation seed."""
    method = load_method(entry.method)
    config = method.Config.model_validate(entry.config)
    networks = CheckedNetworks(
        folders["backbone"],
        pooling=entry.pooling,
        parent=folders.get("parent"),
        pieces=folders.get("pieces"),
    )
    torch.manual_seed(torch_seed(entry.seed, INITIALISE))
    return method(config, networks)


def rows_of(entry: Any, corpus: Path | Sequence[Row]) -> Sequence[Row]:
    """Returns the rows that a run trains on: a share of its corpus, a folder or rows, that its seed draws."""
    rows = read_corpus(corpus) if isinstance(corpus, Path) else corpus
    return subset(rows, entry.corpus_share, seed=entry.seed)
