"""A Chromium with the example report: every kind of page once.

The tests need Playwright for Python (extra `browser`) and a Chromium that is already on the machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.evidence.schema import ResultFile
from harness.io.declarations import LEADERBOARDS
from harness.report.pages import audit, compare
from harness.report.pages.content import Report
from tests.harness.report.example_report import make_report
from tests.harness.report.made_results import result
from tests.harness.report.shown import show, show_index, show_paper, show_small
from tests.support.chromium import installed_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CLAIM = {
    "says": "Distillation is above SimCSE", "source": "section 1: it is", "table": "small-sts",
    "columns": ["avg"], "rows": [{"better": "distill-mse", "worse": ["simcse-released"]}],
}  # fmt: skip
NAMES = (*("index", "all", "short", "paper", "compare", "methods", "empty"),)
PAGES = [f"{name}.html" for name in NAMES]
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--renderer-process-limit=1"),
]


def make_rivals() -> list[ResultFile]:
    """Systems on two test sets: two with three seeds, one with one, and two equal ones that do not train.

    On STS12 `one` is ahead of `two`, on STS13 nothing is settled between them.
    """
    scores = {
        "one": [(0.700, 0.60), (0.704, 0.61), (0.708, 0.65)],
        "two": [(0.690, 0.62), (0.693, 0.60), (0.699, 0.63)],
        "single": [(0.71, 0.63)],
        "fixed": [(0.5, 0.4)],
        "same": [(0.5, 0.4)],
    }
    made = []
    for name, seeds in scores.items():
        for seed, (first, second) in enumerate(seeds):
            values = {("STS12", "all"): first, ("STS13", "all"): second}
            made.append(result(name, seed, values, last_step=0 if name in ("fixed", "same") else 1))
    return made


@dataclass
class Visit:
    """An open page with its requests and errors."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


Open = Callable[..., Visit]


def wait_until(page: Page, expression: str) -> None:
    """Waits up to two seconds until an expression is true on the page, which forbids Playwright's own way."""
    for _ in range(100):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"never true: {expression}")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example report as files, each kind of page once; `short` is `all` without its wide table."""
    results = [result("a", seed, {("STS12", "all"): 0.5 + seed / 100}) for seed in range(2)] + make_rivals()
    report = replace(make_report(), results=tuple(results))
    folder = tmp_path_factory.mktemp("report")
    (folder / "claims").mkdir()
    declared = {"paper": "dclr", "claims": [CLAIM]}
    (folder / "claims" / "dclr.yaml").write_text(json.dumps(declared), encoding="utf-8")
    for name in ("audit", "answers.yaml"):
        (folder / name).symlink_to(LEADERBOARDS.resolve() / name)
    pages = {
        "index": show_index(report),
        "all": show_small(report),
        "short": show_small(replace(report, tables=report.tables[:1])),
        "paper": show_paper(replace(report, leaderboards=folder), report.papers[0]),
        "compare": show(compare.PAGE, report),
        "methods": show(audit.PAGE, report),
        "empty": show_index(Report("An empty report", "abc")),
    }
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need the extra `browser`")
    program = installed_chromium()
    if program is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as engine:
        chromium = engine.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Browser, folder: Path) -> Iterator[Open]:
    """Opens a page of the example report at a width and in a scheme, by default `short`."""
    contexts = []

    def visit(
        name: str = "short.html", *, width: int = 1280, scheme: str = "light", script: bool = True
    ) -> Visit:
        settings: dict[str, Any] = {"color_scheme": scheme, "java_script_enabled": script}
        context = browser.new_context(viewport={"width": width, "height": 844}, **settings)
        contexts.append(context)
        opened = Visit(context.new_page())
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        opened.page.on("console", lambda message: opened.complaints.append(message.text))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.goto((folder / name).as_uri())
        return opened

    yield visit
    for context in contexts:
        context.close()
