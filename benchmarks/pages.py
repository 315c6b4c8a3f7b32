"""The report of a plan of 1,000 runs: what it takes to write, size of its index, time to its first paint.

The runs are those of the recipes, their scores are drawn, so nothing has to be trained. There are no vectors,
so the page Pairs, which reads them, is no part of this.
"""

from __future__ import annotations

import random
import resource
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.runner import Disagreement, figure, output_of, run
from harness.disk.files import write_record
from harness.facts.spec import load_specs
from harness.paths import CURVES, LEADERBOARDS, PARAMS, RECIPES, REPORTS, SCORES, TABLES
from harness.plan.entries import Run
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve, run_key, write_params
from harness.report.measurements import BenchmarkResult
from harness.results.schema import ScoreRecord
from harness.results.store import write_result
from harness.tasks.registry import members
from tests.harness.report.made_results import result
from tests.support.chromium import NAMES, installed_chromium

ROOT = Path(__file__).parents[1]
RUNS, FEW_RUNS, SEEDS = 1000, 40, 5
PAIRS = 1379
"""What every test set counts as."""
EVALUATIONS, INTERVAL = 21, 1000
"""Points of a run's curve, and the steps between two."""
CENTRES, SD = (0.6, 0.8), 0.01
"""Where the mean of a system's scores is drawn, and the standard deviation of its seeds around it."""
REPORT_LIMIT, INDEX_LIMIT, PAINT_LIMIT = 20.0, 1.5, 0.5
"""Seconds, megabytes, seconds."""
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
PAINTED = "performance.getEntriesByName('first-contentful-paint').map(entry => entry.startTime)[0]"
PATIENCE = 10_000
"""Milliseconds in which a page paints, or the benchmark stops."""
Score = tuple[str, str, str]
"""Task, metric and setting, as a column of a table names them."""


def measure(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns time of the report, size of its index and time to its first paint; the last needs a browser."""
    wanted = FEW_RUNS if short else RUNS
    with TemporaryDirectory() as folder:
        write_project(Path(folder), wanted)
        runs = run(
            {"report": partial(write_report, Path(folder), wanted)}, rounds=rounds, clock=None, warm=False
        )
        index = Path(folder) / REPORTS / "index.html"
        return [
            runs.result(
                f"sentbench report of {wanted} runs",
                "report",
                unit="s of a processor",
                scale=1.0,
                limit=REPORT_LIMIT,
                agreement=f"the report counts {wanted} runs and no problem",
                note="drawn scores, no page of pairs",
            ),
            figure(
                f"index of the report of {wanted} runs", "MB", [index.stat().st_size / 1e6], limit=INDEX_LIMIT
            ),
            *paint_time(index, rounds),
        ]


def write_report(folder: Path, wanted: int) -> float:
    """Writes the report of a project; returns the processor's seconds of the command, its start included.

    Errors: Disagreement unless it reports all runs.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = output_of(["env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "harness.cli", "report"], folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if f", {wanted} runs, 0 problems" not in told:
        raise Disagreement(f"expected a report of {wanted} runs without problems, not {told.strip()[-300:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def paint_time(page: Path, rounds: int) -> list[BenchmarkResult]:
    """Returns the result of the first paint of a page; none, with a line, where no browser can be driven."""
    browser = installed_chromium()
    if browser is None or find_spec("playwright") is None:
        print(f"pages: first paint left out, needs Playwright for Python and one of {', '.join(NAMES)}")
        return []
    found = first_paints(page, browser, rounds)
    return [figure("first paint of that index in headless Chromium", "s", found, limit=PAINT_LIMIT)]


def first_paints(page: Path, browser: str, rounds: int) -> Sequence[float]:
    """Returns the seconds from the start of a page's loading to the first paint of its content.

    A new context each round after one unmeasured. Errors: Disagreement if the page is not painted.
    """
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as engine:
        chromium = engine.chromium.launch(executable_path=browser, args=FLAGS)
        for _ in range(rounds + 1):
            context = chromium.new_context()
            opened = context.new_page()
            opened.goto(page.as_uri())
            for _ in range(PATIENCE // 20):  # the page's policy forbids what Playwright would wait by
                painted = opened.evaluate(PAINTED)
                if painted is not None:
                    break
                opened.wait_for_timeout(20)
            else:
                raise Disagreement(f"Chromium has not painted {opened.url} after {PATIENCE / 1e3:.0f} s")
            found.append(float(painted) / 1e3)
            context.close()
        chromium.close()
    return found[1:]


def write_project(folder: Path, wanted: int) -> None:
    """Writes plan, scores and curves of so many runs, five seeds of every system that draws random numbers.

    The systems are a random choice of all at full scale, the same in each call.
    """
    for name in (LEADERBOARDS, RECIPES):
        (folder / name).symlink_to(ROOT / name)
    params = resolve(load_recipes(), ["all"], seeds=SEEDS)
    systems: dict[str, list[Run]] = {}
    for planned in params.runs.values():
        systems.setdefault(f"{planned.id}@{planned.backbone_name}", []).append(planned)
    names = random.Random(0).sample(list(systems), len(systems))
    runs = [planned for name in names for planned in systems[name]][:wanted]
    keys = {run_key(planned.id, planned.backbone_name, planned.seed): planned for planned in runs}
    write_params(params.model_copy(update={"runs": keys}), folder / PARAMS)
    for path in (SCORES, CURVES):
        (folder / path).mkdir(parents=True)
    shown = shown_scores()
    for key, planned in keys.items():
        _write_run(folder, key, planned, shown)


def shown_scores() -> set[Score]:
    """Returns every score that a column of a declared table reads."""
    specs = load_specs(ROOT / TABLES).values()
    columns = (column for spec in specs for column in (*spec.columns, *spec.parts))
    return {(column.task, column.metric, column.setting) for column in columns if column.task}


def _write_run(folder: Path, key: str, planned: Run, shown: Collection[Score]) -> None:
    """Writes the scores of a run on its tasks and, where it trains, its curve."""
    rng, tasks = random.Random(key), {task for name in planned.tasks for task in members(name)}
    centre = random.Random(f"{planned.id}@{planned.backbone_name}").uniform(*CENTRES)
    scores = [
        ScoreRecord(
            task=task,
            metric=metric,
            setting=setting,
            selection="best-dev",
            value=-rng.gauss(centre, SD) if metric == "uniformity" else rng.gauss(centre, SD),
            n=PAIRS,
        )
        for task, metric, setting in sorted(shown)
        if task in tasks
    ]
    about = {"method": planned.method, "variant": planned.variant, "backbone": planned.backbone_name}
    made = result(planned.id, planned.seed, {}, **about, recipe=planned.recipe_hash())
    write_result(folder / SCORES / f"{key}.json", made.model_copy(update={"scores": scores}))
    if planned.train["steps"] != 0:
        write_record(folder / CURVES / f"{key}.json", {"evaluations": list(_evaluations(centre, rng))})


def _evaluations(centre: float, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Yields the evaluations of a curve that rises towards a score."""
    for number in range(EVALUATIONS):
        score = centre * (1 - 0.5 / (1 + number)) + rng.gauss(0, SD / 5)
        entry = {"step": number * INTERVAL, "evaluation": True, "score": score}
        yield {**entry, "alignment": 0.2, "uniformity": -2.0}
