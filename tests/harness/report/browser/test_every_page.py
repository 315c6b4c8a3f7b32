"""Every kind of page: requests, schemes, width, print, accessibility, the way back.

The accessibility check needs axe-core, which the package axe-playwright-python carries.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.report.browser.conftest import PAGES, Open, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
AXE = importlib.util.find_spec("axe_playwright_python")
LEAD_BACK = [f"{name}.html" for name in ("compare", "methods")]
"""Pages with one link to the overview."""


@pytest.mark.skipif(AXE is None, reason="no axe-core: install the extra `test`")
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_every_width_passes_axe_and_loads_no_file(open_page: Open, name: str) -> None:
    """The page `all` is left to axe without its wide table, as `short`."""
    visit = open_page(name)
    page = visit.page
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    for width in (320, 390, 768, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 844})
        wait_until(page, f"document.documentElement.scrollWidth <= {width}")  # the script refits tables
        right = page.locator("main .drawing svg").evaluate_all(
            "charts => Math.max(0, ...charts.map((chart) => chart.getBoundingClientRect().right))"
        )
        assert right <= width
    if name in ("all.html", "paper.html"):
        page.locator("a.cell").first.click()
        assert page.locator("#cell-dialog").evaluate("box => box.scrollWidth <= box.clientWidth")
    if name in LEAD_BACK:
        assert page.locator('a[href$="index.html"]').all_inner_texts() == ["Overview"]
    if name != "all.html":
        check_with_axe(page)
    asked = [url for url in visit.requests if not url.startswith("data:")]
    assert asked == [page.url.partition("#")[0]]
    assert visit.complaints == []


def check_with_axe(page: Page) -> None:
    """All rules in the light scheme, contrast in the dark one; of repeated elements the first."""
    assert AXE is not None
    assert AXE.origin is not None
    page.evaluate(
        "for (const body of document.querySelectorAll('tbody'))"
        " for (const row of [...body.rows].slice(8)) row.remove();"
        "for (const part of document.querySelectorAll('main, main section, main ul'))"
        " for (const name of ['section', 'details', 'table', 'div', 'li'])"
        " for (const one of [...part.querySelectorAll(`:scope > ${name}`)].slice(6)) one.remove()"
    )
    page.evaluate(Path(AXE.origin).with_name("axe.min.js").read_text(encoding="utf-8"))
    for scheme, rules in (("light", ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]),
                          ("dark", ["color-contrast"])):  # fmt: skip
        page.emulate_media(color_scheme=scheme)
        kind = "tag" if scheme == "light" else "rule"
        options = {"runOnly": {"type": kind, "values": rules}, "resultTypes": ["violations"]}
        actual = page.evaluate("options => axe.run(document, options)", options)
        faults = [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in actual["violations"]]
        assert faults == [], scheme
        assert len(actual["passes"]) > (15 if scheme == "light" else 0)


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


def test_a_table_of_30_columns_fits_a_landscape_page_on_paper(open_page: Open) -> None:
    """A4 is 297 mm wide, less two margins of 14 mm: 269 mm, 1,016 pixels of 1/96 inch."""
    page = open_page("all.html", width=1016).page
    page.emulate_media(media="print")
    table = page.locator("#table-wide table")
    assert table.evaluate("table => table.getBoundingClientRect().right") <= 1016
    size = table.locator("td .ours").first.evaluate("cell => parseFloat(getComputedStyle(cell).fontSize)")
    assert size >= 5 * 96 / 72 - 0.01


@pytest.mark.parametrize("name", ["all.html", "paper.html"])
@pytest.mark.parametrize("width", [390, 1280])
def test_numbers_of_a_cell_do_not_overlap(open_page: Open, name: str, width: int) -> None:
    """In the letters of another machine too: they are stretched by a fifth."""
    page = open_page(name, width=width).page
    page.add_style_tag(content="table { letter-spacing: .12em }")
    page.locator(".cell .unseen").evaluate_all("words => words.forEach((word) => word.remove())")
    over = page.locator(".cell").evaluate_all(
        """cells => cells.flatMap((cell) => {
          const parts = [...cell.children].filter((part) => part.textContent.trim());
          const ends = parts.map((part) => {
            const range = document.createRange();
            range.selectNodeContents(part);
            return range.getBoundingClientRect();
          });
          return ends.slice(1).flatMap((box, place) => {
            const before = ends[place];
            const beside = before.top < box.bottom && box.top < before.bottom;
            return beside && before.right > box.left + 0.5 ? [cell.textContent] : [];
          });
        })"""
    )
    assert over == []
