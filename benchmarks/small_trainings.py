"""Cached trainings of the small plan outside its pipeline: more seeds, other settings."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.small_controls import ENCODER, TEST, Scores, scores_from, scores_of
from harness.evidence.further import read_recorded
from harness.io.files import write_text
from harness.models.read import read_encoder
from harness.paths import PIECES, cache
from harness.plan.entries import Params, Run
from harness.plan.identity import arithmetic_used, code_base, evaluation_roots, run_identity
from harness.process import compute_with, prepare, quiet
from harness.stages.inputs import StageInputs
from harness.stages.train import build, rows_of
from harness.tasks.evaluation import evaluate_tasks
from harness.tasks.registry import build_tasks

SPEARMAN = ("spearman", "all")


def of_system(
    params: Params,
    system: str,
    seed: int,
    config: Mapping[str, Any] | None = None,
    train: Mapping[str, Any] | None = None,
) -> Run:
    """Returns a run of a system of the small plan with another seed and with changed settings."""
    run = params.run(f"{system}__{ENCODER}__s0")
    changed = {
        "seed": seed,
        "config": {**run.config, **(config or {})},
        "train": {**run.train, **(train or {})},
    }
    return run.model_copy(update=changed)


_here: list["Trainings"] = []
"""The trainings of a worker process."""


def _begin(params: Params) -> None:
    prepare()
    compute_with("portable")
    quiet()
    _here.append(Trainings(params))


def _scores(run: Run) -> Scores:
    return _here[0].scores(run)


class Trainings:
    """Scores of runs by their identities: from the committed results, the cache, or a new training.
    Requires portable arithmetic (`harness.process.compute_with`) and the plan's inputs. Errors: InputError
    for a missing input.
    """

    def __init__(self, params: Params) -> None:
        self.params, self.kept = params, cache() / "small-setting"
        self.committed = {result.run.identity: result for result in read_recorded().results}
        self.evaluation = code_base().fingerprint(evaluation_roots(TEST))

    def scores(self, run: Run) -> Scores:
        """Returns the scores of a run on dev, test and the partial sets."""
        identity = run_identity(self.params, run, arithmetic_used("cpu"))
        if identity in self.committed:
            return scores_of(self.committed[identity])
        name = hashlib.sha256(f"{identity} {self.evaluation}".encode()).hexdigest()
        path = self.kept / f"{name}.json"
        if not path.is_file():
            write_text(path, json.dumps(self._trained(run)))
        return Scores(*json.loads(path.read_text(encoding="utf-8")))

    def all_scores(self, runs: Sequence[Run]) -> Iterator[Scores]:
        """Yields the scores of several runs in their order, trained in parallel: one process per core."""
        with ProcessPoolExecutor(
            os.cpu_count(), get_context("forkserver"), initializer=_begin, initargs=(self.params,)
        ) as pool:
            yield from pool.map(_scores, runs)

    def dev(self, run: Run) -> float:
        """Returns the dev score of a run without reading a test set."""
        identity = run_identity(self.params, run, arithmetic_used("cpu"))
        if identity in self.committed:
            return 100 * self.committed[identity].selection.best_dev
        path = self.kept / f"{identity}.dev.json"
        if not path.is_file():
            with TemporaryDirectory(prefix="sentbench-") as state:
                write_text(path, json.dumps(100 * self._fit(run, Path(state)).record.best))
        return float(json.loads(path.read_text(encoding="utf-8")))

    def encoder(self, run: Run, folder: Path) -> None:
        """Trains a run and writes its selected encoder to `folder`, which must not exist."""
        with TemporaryDirectory(prefix="sentbench-") as state:
            shutil.copytree(self._fit(run, Path(state)).best_folder, folder)

    def _trained(self, run: Run) -> Scores:
        with TemporaryDirectory(prefix="sentbench-") as state:
            trainer = self._fit(run, Path(state))
            encoder = read_encoder(trainer.best_folder)
            scores = evaluate_tasks(build_tasks(TEST, text=run.text), encoder.encode)
        points = {
            score.task: 100 * score.value for score in scores if (score.metric, score.setting) == SPEARMAN
        }
        return scores_from(100 * trainer.record.best, points)

    def _fit(self, run: Run, state: Path) -> Any:
        folders = {**run.folders(), "pieces": PIECES, "state": state / "state"}
        trainer = build(StageInputs(run, folders, state))
        trainer.fit(rows_of(run, folders["corpus"]))
        return trainer
