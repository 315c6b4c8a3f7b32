"""`sentbench accept`: check contributed results and add them to the tables.

Example: `sentbench accept bundle.zip`
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from harness.checkout import need_checkout
from harness.commands.contribute import code_fingerprints
from harness.errors import InputError
from harness.paths import BANDS, LEADERBOARDS, SCORES
from harness.plan.entries import Run
from harness.plan.known_runs import declared_runs, recipe_hashes
from harness.plan.recipes import load_recipes
from harness.results.bands import read_bands
from harness.results.contributions import Band, Checkout, ScoreName, accept, read_contributions
from harness.results.embeddings import EmbeddingStore
from harness.results.schema import ResultFile
from harness.results.store import read_results


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="as `sentbench contribute` wrote it")


def execute(arguments: argparse.Namespace) -> None:
    """Adds the results of a good bundle below leaderboards/contributed and prints where."""
    need_checkout("accepting results")
    folder = LEADERBOARDS / "contributed"
    added = accept(arguments.bundle, folder, checkout(folder))
    results = len(list((added / "scores").glob("*.json")))
    print(f"{added}: {results} results; `sentbench report` shows them as seeds run elsewhere")


def checkout(folder: Path) -> Checkout:
    """Returns what this project knows: recipes, the code that is here, bands, data, and results."""
    from methods.registry import METHODS

    recipes = load_recipes()
    runs = declared_runs(recipes)
    accepted = [result for contribution in read_contributions(folder) for result in contribution.results]
    return Checkout(
        recipes=recipe_hashes(recipes),
        code={name: {sha256} for name, sha256 in code_fingerprints(list(METHODS)).items()},
        bands={
            (band.id, band.backbone, ScoreName(band.task, band.metric, band.setting, band.selection)): Band(
                band.low, band.high
            )
            for band in read_bands(BANDS)
        },
        rescore=lambda result, vectors: rescored(result, vectors, runs),
        present=[*read_results(SCORES.glob("*.json")), *accepted],
    )


def rescored(
    result: ResultFile, vectors: Path, runs: Mapping[tuple[str, str], Run]
) -> dict[ScoreName, float]:
    """Returns the scores of a run's tasks from its vectors, of those tasks alone whose data can be read here.

    Errors: InputError if the vectors are damaged or lack a text.
    """
    from harness.tasks.evaluation import evaluate_stored
    from harness.tasks.interface import Task
    from harness.tasks.registry import build_tasks

    def is_here(task: Task) -> bool:
        try:
            task.texts()
        except InputError:
            return False
        return True

    run = runs[result.run.id, result.run.backbone]
    tasks = [task for task in build_tasks(run.tasks, text=run.text) if is_here(task)]
    selection = "last" if run.weights == "last" else "best-dev"
    return {
        ScoreName(score.task, score.metric, score.setting, selection): score.value
        for score in evaluate_stored(tasks, EmbeddingStore.load(vectors).encode)
    }
