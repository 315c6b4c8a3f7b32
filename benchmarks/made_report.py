"""A project with a plan of the recipes' runs whose scores are drawn, so that nothing has to be trained."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterator
from pathlib import Path

from harness.facts.spec import load_specs
from harness.paths import CURVES, LEADERBOARDS, PARAMS, RECIPES, SCORES, TABLES
from harness.plan.entries import Run
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve, run_key, write_params
from harness.records import sealed_lines
from harness.results.schema import ScoreRecord
from harness.results.store import write_result
from harness.tasks.registry import members
from tests.harness.report.made_results import result

ROOT = Path(__file__).parents[1]
SEEDS = 5
ITEMS = 1379
"""Pairs that every test set counts as."""
EVALUATIONS, INTERVAL = 21, 1000
"""Points of a run's curve, and the steps between two."""
CENTRES, SD = (0.6, 0.8), 0.01
"""Where the mean of a system's scores is drawn, and the spread of its seeds around it."""

Score = tuple[str, str, str]
"""Task, metric and setting, as a column of a table names them."""


def write_project(folder: Path, wanted: int) -> None:
    """Writes plan, scores and curves of so many runs, five seeds of every system that draws random numbers.

    The systems are a random choice of all at full scale, the same in each call.
    """
    for name in (LEADERBOARDS, RECIPES):
        (folder / name).symlink_to(ROOT / name)
    params = resolve(load_recipes(), ["all"], seeds=SEEDS)
    systems: dict[str, list[Run]] = {}
    for run in params.runs.values():
        systems.setdefault(f"{run.id}@{run.backbone_name}", []).append(run)
    rng = random.Random(0)
    names = rng.sample(list(systems), len(systems))
    runs = [run for name in names for run in systems[name]][:wanted]
    keys = {run_key(run.id, run.backbone_name, run.seed): run for run in runs}
    write_params(params.model_copy(update={"runs": keys}), folder / PARAMS)
    for path in (SCORES, CURVES):
        (folder / path).mkdir(parents=True)
    shown = shown_scores()
    for key, run in keys.items():
        write_run(folder, key, run, shown)


def shown_scores() -> set[Score]:
    """Returns every score that a column of a declared table reads."""
    specs = load_specs(ROOT / TABLES).values()
    columns = (column for spec in specs for column in (*spec.columns, *spec.parts))
    return {(column.task, column.metric, column.setting) for column in columns if column.task}


def write_run(folder: Path, key: str, run: Run, shown: Collection[Score]) -> None:
    """Writes the scores of a run on its tasks and, where it trains, its curve."""
    rng, tasks = random.Random(key), {task for name in run.tasks for task in members(name)}
    centre = random.Random(f"{run.id}@{run.backbone_name}").uniform(*CENTRES)
    scores = [
        ScoreRecord(
            task=task,
            metric=metric,
            setting=setting,
            selection="best-dev",
            value=-rng.gauss(centre, SD) if metric == "uniformity" else rng.gauss(centre, SD),
            n=ITEMS,
        )
        for task, metric, setting in sorted(shown)
        if task in tasks
    ]
    made = result(
        run.id,
        run.seed,
        {},
        method=run.method,
        variant=run.variant,
        backbone=run.backbone_name,
        recipe=run.recipe_hash(),
    )
    write_result(folder / SCORES / f"{key}.json", made.model_copy(update={"scores": scores}))
    if run.train["steps"] != 0:
        text = sealed_lines(evaluations(centre, rng))
        (folder / CURVES / f"{key}.jsonl").write_text(text, encoding="utf-8")


def evaluations(centre: float, rng: random.Random) -> Iterator[str]:
    """Yields the lines of a curve that rises towards a score."""
    for number in range(EVALUATIONS):
        score = centre * (1 - 0.5 / (1 + number)) + rng.gauss(0, SD / 5)
        entry = {"step": number * INTERVAL, "evaluation": True, "score": score}
        yield json.dumps({**entry, "alignment": 0.2, "uniformity": -2.0}) + "\n"
