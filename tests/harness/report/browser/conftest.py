"""A Chromium with the example report: every kind of page once.

The tests need Playwright for Python (extra `browser`) and a Chromium that is already on the machine.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.declarations import LEADERBOARDS
from harness.report.pages.audit import load_audits
from harness.report.pages.claims import Claim, judge_claims
from harness.report.pages.ladder import Ladder, Step, measure_ladder
from harness.report.pages.lens import build_lens
from harness.report.pages.page import Report
from harness.report.pages.render import (
    render_audit,
    render_benchmarks,
    render_claims,
    render_index,
    render_ladders,
    render_lens,
    render_paper,
)
from harness.report.pages.speed import Measurements
from tests.harness.report.example_report import make_report
from tests.harness.report.made_results import result
from tests.harness.report.test_benchmarks import recorded

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

CLAIM = Claim(
    says="Distillation is above SimCSE",
    table="small-sts",
    column="avg",
    better="distill-mse",
    worse="simcse-released",
)
PAGES = [
    "index.html",
    "short.html",
    "paper.html",
    "claims.html",
    "audit.html",
    "ladder.html",
    "lens.html",
    "speed.html",
    "empty.html",
]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]


@dataclass
class Visit:
    """A page that is open, with what it asked for and complained about."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


Open = Callable[..., Visit]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example report as files, each kind of page once; `short` is the index without its wide table."""
    pytest.importorskip("matplotlib", reason="charts need the extra `report`")
    report = make_report()
    folder = tmp_path_factory.mktemp("report")
    (folder / "index.html").write_text(render_index(report), encoding="utf-8")
    short = replace(report, tables=report.tables[:1])
    (folder / "short.html").write_text(render_index(short), encoding="utf-8")
    (folder / "paper.html").write_text(render_paper(report, report.papers[0]), encoding="utf-8")
    ledger = {"A paper": judge_claims([CLAIM], {"small-sts": report.tables[0]})}
    (folder / "claims.html").write_text(render_claims(report, ledger), encoding="utf-8")
    audits = load_audits(LEADERBOARDS / "audit")
    (folder / "audit.html").write_text(render_audit(report, audits), encoding="utf-8")
    results = [result("a", seed, {("STS12", "all"): 0.5 + seed / 100}) for seed in range(2)]
    rung = result("a-ladder-text", 0, {("STS12", "all"): 0.4})
    steps = (Step("a-ladder-text", "text", "text: senteval → raw"), Step("x", "clipping", "on → off"))
    ladders = [measure_ladder(Ladder(name, "b", steps), [*results, rung]) for name in ("a", "not-run")]
    (folder / "ladder.html").write_text(render_ladders(report, ladders), encoding="utf-8")
    (folder / "lens.html").write_text(render_lens(report, build_lens(results)), encoding="utf-8")
    speed = render_benchmarks(report, Measurements.model_validate_json(json.dumps(recorded())))
    (folder / "speed.html").write_text(speed, encoding="utf-8")
    (folder / "empty.html").write_text(render_index(Report("An empty report", "abc")), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need the extra `browser`")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as engine:
        chromium = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Browser, folder: Path) -> Iterator[Open]:
    """Opens a page of the example report at a width and in a scheme."""
    contexts = []

    def visit(
        name: str = "index.html", *, width: int = 1280, scheme: str = "light", script: bool = True
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
