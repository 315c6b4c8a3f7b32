"""The first losses of a run: three numbers that change if the meaning of its training changes.

A run is trained on the first rows of its corpus, for STEPS small batches, with the schedule of a whole
training in STEPS steps. Of runs that differ only in their seed, the first is measured. Portable arithmetic
gives the same losses on every processor, so they are compared digit by digit.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import yaml
from pydantic import Field, TypeAdapter

from harness.check.workers import preload
from harness.errors import InputError
from harness.io.declarations import Name, read_mapping, refused_in_one_line
from harness.io.files import write_text
from harness.io.records import check_present, rounded
from harness.paths import ARTEFACTS
from harness.plan.entries import Params
from harness.process import in_effect, quiet

if TYPE_CHECKING:
    from methods.core.rows import Row
    from methods.core.train_config import TrainConfig
    from methods.core.types import Encoder

STEPS, BATCH = 3, 16
MOST_ROWS = 640
"""Largest number of corpus rows that are read."""
QUEUE = 512
"""Largest number of keys in a queue, so rows remain to train on after filling it."""
SENTENCES = (
    "A man is playing a guitar.",
    "no",
    "The committee did not approve the budget for 1998, although three members had asked for it.",
    "Café owners in São Paulo raised their prices by 12.5 percent (again).",
)
"""Sentences encoded between steps, which checks that a method returns to training mode."""
HEAD = """\
# First losses of each system's first seed, in portable arithmetic; written by `sentbench check --measure`.
"""
Losses = Annotated[list[float], Field(min_length=STEPS, max_length=STEPS)]
_corpora: dict[str, Sequence[Row]] = {}
"""Rows of corpora by folder, which `measure_runs` reads once for all its processes."""


def representatives(params: Params) -> dict[str, str]:
    """Returns for each run that trains the run whose losses are measured: the first of those that differ from
    it only in their seed.
    """
    first: dict[str, str] = {}
    trained = [key for key, run in params.runs.items() if run.train["steps"] != 0]
    return {key: first.setdefault(params.run(key).recipe_hash(), key) for key in trained}


def measured_runs(params: Params) -> list[str]:
    """Returns the runs of a plan whose first losses are measured: one for each entry that trains."""
    return list(dict.fromkeys(representatives(params).values()))


def is_exact() -> bool:
    """Returns whether losses of this machine must equal the losses of other machines."""
    return in_effect() == "portable" and platform.machine() in ("x86_64", "AMD64")


def measure_run(params: Params, key: str, most_rows: int = MOST_ROWS) -> list[float]:
    """Returns the losses [STEPS] of a run, with ten significant digits.

    A parent or start that is itself trained is replaced by its backbone, so the losses do not depend on
    another training. most_rows: largest number of corpus rows.
    Errors: InputError if a folder that the run needs is missing.
    """
    from harness.stages.inputs import StageInputs
    from harness.stages.train import build, rows_of
    from methods.core.resume import LOG

    quiet()
    run, backbone = params.run(key), untrained_backbone(params, key)
    check_present(backbone, run.corpus)
    folders = {**run.folders(), "backbone": backbone}
    if "parent" in folders and folders["parent"].parent == ARTEFACTS:
        folders["parent"] = backbone
    _, config, settings = run.read_settings()
    short = {
        "config": small_config(config, most_rows).model_dump(),
        "train": short_settings(settings).model_dump(),
    }
    entry = run.model_copy(update=short)
    rows = rows_of(entry, _corpora.get(run.corpus) or folders["corpus"])[:most_rows]
    with tempfile.TemporaryDirectory(prefix="sentbench-") as state:
        build(StageInputs(entry, {**folders, "state": Path(state)}, Path(state)), evaluate=evaluate).fit(rows)
        log = (Path(state) / LOG).read_text(encoding="utf-8")
    entries = [json.loads(line) for line in log.splitlines()]
    return [rounded(entry["loss"]) for entry in entries if "evaluation" not in entry]


def untrained_backbone(params: Params, key: str) -> Path:
    """Returns the backbone of a run, through the runs that it continues."""
    run = params.run(key)
    while Path(run.backbone).parent == ARTEFACTS:
        run = params.run(Path(run.backbone).name)
    return Path(run.backbone)


def small_config(config: Any, rows: int) -> Any:
    """Returns a method's settings limited to this number of rows."""
    most = {"sentences": rows, "queue_size": min(QUEUE, rows - STEPS * BATCH)}
    fitted = {
        name: min(getattr(config, name), limit) for name, limit in most.items() if hasattr(config, name)
    }
    return config.model_copy(update=fitted)


def short_settings(settings: TrainConfig) -> TrainConfig:
    """Returns the settings of a training of STEPS small batches, with an evaluation after each."""
    size = min(settings.batch_size, BATCH)
    sizes = {"steps": STEPS, "epochs": None, "batch_size": size, "save_every": STEPS}
    return settings.model_copy(update={**sizes, "eval_every": 1, "eval_within": "run", "patience": None})


def evaluate(encoder: Encoder) -> Mapping[str, float]:
    """Encodes a few sentences, like an evaluation; every state gets the same score."""
    encoder.encode(SENTENCES)
    return {"score": 0.0}


def measure_runs(
    params: Params, keys: Sequence[str], *, ended: Callable[[str], object] = lambda key: None
) -> dict[str, list[float]]:
    """Returns the losses of several runs, measured in parallel: one process per core, each with one thread.

    ended: called with each measured run, in their order.
    Errors: as `measure_run`.
    """
    if not keys:
        return {}
    preload()
    import torch

    from harness.data.corpora import read_corpus

    folders = {params.run(key).corpus for key in keys}
    check_present(*folders)
    _corpora.update({folder: read_corpus(Path(folder)) for folder in folders})
    try:
        with ProcessPoolExecutor(
            os.cpu_count(), get_context("fork"), initializer=torch.set_num_threads, initargs=(1,)
        ) as pool:
            measured = {}
            for key, losses in zip(keys, pool.map(partial(measure_run, params), keys), strict=True):
                measured[key] = losses
                ended(key)
            return measured
    finally:
        _corpora.clear()


def read_losses(path: Path) -> dict[str, list[float]]:
    """Returns the losses [STEPS] by run. Errors: InputError if the file is missing or damaged."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; write the first losses with `sentbench check --measure`")
    with refused_in_one_line(str(path)):
        return TypeAdapter(dict[Name, Losses]).validate_python(read_mapping(path))


def write_losses(path: Path, losses: Mapping[str, Sequence[float]]) -> None:
    """Writes the file, a line for each run."""
    body = yaml.safe_dump(dict(losses), sort_keys=False, width=200, default_flow_style=None)
    write_text(path, HEAD + body)
