"""The report of a plan of 1,000 runs: what it takes to write, size of its index, time to its first paint.

`made_report` makes the runs. It makes no vectors, so the page Pairs, which reads them, is no part of this.
"""

from __future__ import annotations

import resource
import statistics
import sys
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.made_report import write_project
from benchmarks.measurement import Disagreement, Result, Spread, alternate
from benchmarks.processes import output_of
from harness.paths import REPORTS
from tests.support.chromium import NAMES, installed_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
RUNS, FEW_RUNS = 1000, 40
REPORT_LIMIT, INDEX_LIMIT, PAINT_LIMIT = 20.0, 1.5, 0.5
"""Seconds, megabytes, seconds."""
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
PAINTED = "performance.getEntriesByType('paint').map(entry => [entry.name, entry.startTime])"
PAINT = "first-contentful-paint"
PATIENCE = 10_000
"""Milliseconds in which a page paints, or the benchmark stops."""


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns time of the report, size of its index and time to its first paint; the last needs a browser."""
    wanted = FEW_RUNS if short else RUNS
    with TemporaryDirectory() as folder:
        write_project(Path(folder), wanted)
        index = Path(folder) / REPORTS / "index.html"
        return [
            report_time(Path(folder), wanted, rounds),
            index_size(index, wanted),
            *paint_time(index, rounds),
        ]


def report_time(folder: Path, wanted: int, rounds: int) -> Result:
    """Returns the processor time of the command, start included; Disagreement unless it reports all runs."""
    processors: list[float] = []
    times, rates = alternate({"report": partial(write_report, folder, wanted, processors)}, rounds=rounds)
    return Result(
        f"sentbench report of {wanted} runs",
        "s of a processor",
        Spread.of(processors),
        limit=REPORT_LIMIT,
        agreement=f"the report counts {wanted} runs and no problem",
        note=f"{statistics.median(times['report']):.1f} s on the clock; drawn scores, no page of pairs",
        gemm=Spread.of(rates),
    )


def write_report(folder: Path, wanted: int, processors: list[float]) -> None:
    """Writes the report of a project and adds the seconds that it kept a processor busy."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = output_of(["env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "harness.cli", "report"], folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processors.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    if f", {wanted} runs, 0 problems" not in told:
        raise Disagreement(f"expected a report of {wanted} runs without problems, not {told.strip()[-300:]}")


def index_size(index: Path, wanted: int) -> Result:
    """Returns the size of a page in MB."""
    size = index.stat().st_size / 1e6
    return Result(f"index of the report of {wanted} runs", "MB", Spread.of([size]), limit=INDEX_LIMIT)


def paint_time(page: Path, rounds: int) -> list[Result]:
    """Returns the result of the first paint of a page; none, with a line, where no browser can be driven."""
    browser = installed_chromium()
    if browser is None or find_spec("playwright") is None:
        print(f"pages: first paint left out, needs Playwright for Python and one of {', '.join(NAMES)}")
        return []
    return [
        Result(
            "first paint of that index in headless Chromium",
            "s",
            Spread.of(first_paints(page, browser, rounds)),
            limit=PAINT_LIMIT,
            note="first paint of content, from the file, in a new context each round after one unmeasured",
        )
    ]


def first_paints(page: Path, browser: str, rounds: int) -> Sequence[float]:
    """Returns the seconds from the start of a page's loading to the first paint of its content.

    Errors: Disagreement if the browser does not paint the page.
    """
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as engine:
        chromium = engine.chromium.launch(executable_path=browser, args=FLAGS)
        for _ in range(rounds + 1):
            context = chromium.new_context()
            opened = context.new_page()
            opened.goto(page.as_uri())
            found.append(_painted(opened))
            context.close()
        chromium.close()
    return found[1:]


def _painted(opened: Page) -> float:
    """Returns when an open page was first painted; its policy forbids what Playwright would wait by."""
    for _ in range(PATIENCE // 20):
        entries = dict(opened.evaluate(PAINTED))
        if PAINT in entries:
            return float(entries[PAINT]) / 1e3
        opened.wait_for_timeout(20)
    raise Disagreement(
        f"Chromium has not painted {opened.url} after {PATIENCE / 1e3:.0f} s, expected content"
    )
