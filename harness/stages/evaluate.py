"""Evaluation of one run: its vectors, its scores and the curves of its training."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from harness.evidence.curves import EVALUATIONS, losses_of
from harness.evidence.schema import SCHEMA, Provenance, ResultFile, RunRecord, ScoreRecord, Selection
from harness.evidence.store import write_result
from harness.io.files import write_record
from harness.io.records import rounded
from harness.stages.inputs import StageInputs
from harness.stages.vectors import embedded, load_artefact
from harness.tasks.evaluation import evaluate_stored
from harness.tasks.registry import build_tasks
from methods.core.resume import LAST, LOG

SCORES_FILE, CURVES_FILE, LOSSES_FILE, VECTORS_FILE = (
    "scores.json",
    "curves.json",
    "losses.json",
    "vectors.safetensors",
)
"""The files that an evaluation writes."""


def run(inputs: StageInputs) -> None:
    """Writes scores, curves and losses of a run, and the stored vectors of its selected weights.

    folders: artefact, and the caches pieces (tokenised texts) and vectors. record: `artefact`, the record of
    the artefact, and `provenance`.
    """
    entry, folder = inputs.entry, inputs.folders["artefact"]
    tasks = build_tasks(entry.tasks, text=entry.text)
    scores: list[ScoreRecord] = []
    for selection, weights in weights_of(entry.weights, folder):
        selected = selection == "best-dev" or entry.weights == "last"
        with embedded(
            partial(load_artefact, weights, inputs.device, pieces=inputs.folders["pieces"]),
            tasks,
            path=inputs.out / VECTORS_FILE if selected else None,
            cache=inputs.folders["vectors"],
            identity=inputs.vectors_key(weights),
        ) as store:
            scores += [
                ScoreRecord(selection=selection, **score._asdict())
                for score in evaluate_stored(tasks, store.encode)
            ]
    artefact = inputs.record["artefact"]
    result = ResultFile(
        schema=SCHEMA,
        run=RunRecord(**{name: artefact[name] for name in RunRecord.model_fields}),
        scores=scores,
        selection=Selection(**artefact["selection"]),
        provenance=Provenance(**inputs.record["provenance"]),
    )
    write_result(inputs.out / SCORES_FILE, result)
    write_record(inputs.out / CURVES_FILE, {EVALUATIONS: evaluations(folder / LOG)})
    write_record(inputs.out / LOSSES_FILE, {"losses": losses_of(folder / LOG)})


def weights_of(wanted: str, folder: Path) -> list[tuple[Any, Path]]:
    """Returns the weights of an artefact that are scored, each with its folder."""
    last = folder / LAST
    if wanted == "best-dev" or not last.is_dir():
        return [("best-dev", folder)]
    return [("last", last)] if wanted == "last" else [("best-dev", folder), ("last", last)]


def evaluations(log: Path) -> list[dict[str, Any]]:
    """Returns the evaluations of a training log, rounded, for the report's curves."""
    lines = log.read_text(encoding="utf-8").splitlines()
    return [rounded(json.loads(line)) for line in lines if '"evaluation": true' in line]
