"""The pages in a browser: sorting, keyboard, schemes, width, requests, accessibility.

They need Playwright for Python (extra `browser`) and a Chromium that is already on the machine. The
accessibility check also needs axe-core, which the package axe-playwright-python carries.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.report.claims import Claim, judge_claims
from harness.report.declarations import LEADERBOARDS
from harness.report.differences import load_audits
from harness.report.ladder import Ladder, Step, measure_ladder
from harness.report.lens import build_lens
from harness.report.page import Report
from harness.report.render import (
    render_audit,
    render_claims,
    render_index,
    render_ladders,
    render_lens,
    render_paper,
)
from tests.harness.report.example_report import make_report
from tests.harness.report.made_results import result

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("matplotlib", reason="charts need the extra `report`")
playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need the extra `browser`")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

AXE = importlib.util.find_spec("axe_playwright_python")
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
    (folder / "empty.html").write_text(render_index(Report("An empty report", "abc")), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
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


def systems(page: Page, table: str) -> list[str]:
    return page.locator(f"#table-{table} tr.system th").all_inner_texts()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_requests_nothing_but_itself_and_has_no_complaint(open_page: Open, name: str) -> None:
    visit = open_page(name)
    visit.page.wait_for_load_state("networkidle")
    assert [url for url in visit.requests if not url.startswith("data:")] == [visit.page.url]
    assert visit.complaints == []


def test_sorting_orders_each_group_by_value_and_the_third_click_restores_the_order(open_page: Open) -> None:
    """STS-B of the first group is near 62.7, 62.2, 73.1 and 48.4: distill leads, pooled ends."""
    page = open_page().page
    printed = systems(page, "small-sts")
    head = page.locator("#table-small-sts thead th").nth(1)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    descending = systems(page, "small-sts")
    assert (descending[0], descending[3]) == ("distill mse", "pooled cls")
    assert descending[4:] == ["whitening glove", "glove mean"]
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    ascending = systems(page, "small-sts")
    assert ascending == descending[:4][::-1] + descending[4:][::-1]
    assert "ascending" in page.locator("#announcer").inner_text()
    head.locator("button").click()
    assert head.get_attribute("aria-sort") is None
    assert systems(page, "small-sts") == printed


def test_sorting_by_keyboard_and_by_name(open_page: Open) -> None:
    page = open_page().page
    page.locator("#table-small-sts .corner button").focus()
    page.keyboard.press("Enter")
    assert systems(page, "small-sts")[:3] == ["distill mse", "pooled cls", "simcse nt-xent"]
    assert page.locator("#table-small-sts [aria-sort]").count() == 1


def test_rows_without_a_score_sort_last_both_ways_and_keep_their_order(open_page: Open) -> None:
    """SICK-R is known for nt-xent (near 62) and cls (near 48) in the first group alone."""
    page = open_page().page
    head = page.locator("#table-small-sts thead button", has_text="SICK-R")
    unscored = ["simcse released", "distill mse", "glove mean", "whitening glove"]
    head.click()
    assert systems(page, "small-sts") == ["simcse nt-xent", "pooled cls", *unscored]
    head.click()
    assert systems(page, "small-sts") == ["pooled cls", "simcse nt-xent", *unscored]


def test_a_cell_opens_by_keyboard_and_gives_the_focus_back(open_page: Open) -> None:
    page = open_page().page
    page.locator("#table-small-sts thead button").last.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    focused = page.evaluate("document.activeElement.dataset.title")
    assert focused == "minilm-l2 · simcse nt-xent · STS-B dev"
    assert "n = 3 seeds" in page.locator("#tip").inner_text()
    page.keyboard.press("Enter")
    dialog = page.locator("#cell-dialog")
    assert dialog.is_visible()
    assert dialog.locator("h2").inner_text() == focused
    assert "dvc repro train@simcse-nt-xent-s1 evaluate@simcse-nt-xent-s1" in dialog.inner_text()
    assert dialog.locator("svg").is_visible()
    assert dialog.locator("tbody tr:visible").count() == 3
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert page.evaluate("document.activeElement.dataset.title") == focused


def test_runs_lent_to_the_dialog_return_to_their_place(open_page: Open) -> None:
    page = open_page().page
    before = page.locator("#runs details").evaluate_all("all => all.map((part) => part.id + part.open)")
    page.locator("#table-small-sts a.cell").nth(8).click()
    assert page.locator("#runs details").count() == len(before) - 1
    page.locator("#cell-dialog .close").click()
    assert (
        page.locator("#runs details").evaluate_all("all => all.map((part) => part.id + part.open)") == before
    )


def test_one_tab_stop_a_table_and_arrows_reach_the_cells_that_nobody_ran(open_page: Open) -> None:
    page = open_page().page
    assert page.locator('#table-wide .cell[tabindex="0"]').count() == 1
    page.locator("#table-small-sts a.cell").nth(3).focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.title").endswith("SICK-R")
    assert "not run" in page.locator("#tip").inner_text()
    assert page.locator('#table-small-sts .cell[tabindex="0"]').count() == 1


def test_the_focused_cell_of_a_wide_table_is_not_under_the_sticky_column_or_header(open_page: Open) -> None:
    page = open_page(width=390).page
    page.locator("#table-wide a.cell").first.focus()
    for key in ["ArrowRight"] * 12 + ["ArrowDown"] * 25 + ["ArrowLeft"] * 6 + ["ArrowUp"] * 12:
        page.keyboard.press(key)
        hidden = page.evaluate(
            """() => {
              const cell = document.activeElement.parentElement.getBoundingClientRect();
              const first = document.activeElement.closest("tr").cells[0].getBoundingClientRect();
              const head = document.activeElement.closest("table").tHead.getBoundingClientRect();
              return cell.left < first.right - 1 || cell.top < head.bottom - 1 || cell.right > innerWidth;
            }"""
        )
        assert not hidden, key
    assert not page.locator("#tip").is_hidden()


def test_hover_shows_the_facts_and_escape_hides_them(open_page: Open) -> None:
    page = open_page("paper.html").page
    page.locator("a.cell").nth(6).hover()
    assert "needs 11 more seeds" in page.locator("#tip").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


def test_a_tap_on_a_cell_without_runs_shows_its_facts(open_page: Open) -> None:
    page = open_page("paper.html", width=390).page
    page.locator("span.cell").first.click()
    assert "cited, not ours" in page.locator("#tip").inner_text()
    assert not page.locator("#cell-dialog").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_switch_turns_the_scheme_over_and_is_remembered(open_page: Open, scheme: str) -> None:
    page = open_page(scheme=scheme).page
    ground = "getComputedStyle(document.body).backgroundColor"
    colours = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 26)"}
    other = "dark" if scheme == "light" else "light"
    assert page.evaluate(ground) == colours[scheme]
    page.locator("[data-scheme-switch]").click()
    assert page.evaluate(ground) == colours[other]
    page.reload()
    assert page.evaluate(ground) == colours[other]
    page.emulate_media(media="print")
    assert page.evaluate(ground) == colours["light"]


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_overflows_the_page(open_page: Open, name: str, width: int) -> None:
    page = open_page(name, width=width).page
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if name == "index.html":
        page.locator("#table-small-sts a.cell").first.click()
        assert page.locator("#cell-dialog").evaluate("box => box.scrollWidth <= box.clientWidth")


def test_a_table_of_30_columns_fits_a_landscape_page_on_paper(open_page: Open) -> None:
    """A4 is 297 mm wide, less two margins of 14 mm: 269 mm, 1,016 pixels of 1/96 inch."""
    page = open_page(width=1016).page
    page.emulate_media(media="print")
    table = page.locator("#table-wide table")
    assert table.evaluate("table => table.getBoundingClientRect().right") <= 1016
    size = table.locator("td .ours").first.evaluate("cell => parseFloat(getComputedStyle(cell).fontSize)")
    assert size >= 5 * 96 / 72 - 0.01


def test_without_its_script_a_cell_still_leads_to_its_runs(open_page: Open) -> None:
    page = open_page(script=False).page
    assert page.locator("[data-scheme-switch]").is_hidden()
    page.locator("#table-small-sts a.cell").first.click()
    assert page.url.endswith("#system-simcse-released-minilm-l2")


def test_a_link_to_a_closed_system_opens_it(open_page: Open) -> None:
    page = open_page().page
    assert page.locator("#system-distill-mse-minilm-l2").get_attribute("open") is None
    page.evaluate("location.hash = 'system-distill-mse-minilm-l2'")
    page.wait_for_selector("#system-distill-mse-minilm-l2[open]")


@pytest.mark.slow  # a clock: run on a quiet machine, never in CI
def test_a_table_of_40_rows_and_30_columns_opens_in_under_a_second(open_page: Open) -> None:
    page = open_page().page
    assert page.locator("#table-wide td").count() == 1200
    assert page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") < 1000


@pytest.mark.skipif(AXE is None, reason="no axe-core: install the extra `test`")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES[1:])
def test_axe_finds_no_fault(open_page: Open, name: str, scheme: str) -> None:
    page = open_page(name, scheme=scheme).page
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    if name == "paper.html":
        page.locator("a.cell").first.click()
    assert AXE is not None
    assert AXE.origin is not None
    page.evaluate(Path(AXE.origin).with_name("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']})"
    )
    faults = [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in found["violations"]]
    assert faults == []
    assert len(found["passes"]) > 15
