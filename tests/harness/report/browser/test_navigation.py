"""Search and menus, on the committed report and on the example's pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.report.browser.conftest import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
REPORTS = Path(__file__).parents[4] / "reports"


@pytest.fixture(scope="module", autouse=True)
def of_this_code() -> None:
    """The pages of the committed report are read: they must have been written by a code with the search."""
    if not (REPORTS / "pages/search.js").is_file():
        pytest.skip("the committed report is of an earlier code: run `sentbench report`")


@pytest.fixture
def overview(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((REPORTS / "index.html").as_uri())
    yield page
    page.close()


def search(page: Page, words: str) -> list[str]:
    """Returns the hits, after the page has loaded the search index."""
    page.locator("#search-text").fill(words)
    wait_until(page, "window.searchFound && document.getElementById('search-hits').textContent")
    return page.locator("#search-hits li").all_inner_texts()


def test_all_words_of_a_search_are_found_in_any_order_and_enter_follows_the_first_hit(overview: Page) -> None:
    first = search(overview, "una bert-base")
    overview.locator("#search-text").fill("bert-base una")
    assert overview.locator("#search-hits li").all_inner_texts() == first
    assert 1 <= len(first) <= 12
    assert all("una" in hit.lower() and "bert-base" in hit.lower() for hit in first)
    target = overview.locator("#search-hits a").first.get_attribute("href") or ""
    overview.locator("#search-text").press("Enter")
    wait_until(overview, f"location.href.endsWith({target!r})")


@pytest.mark.parametrize("name", ["papers/sct.html", "pages/compare.html", "pages/evidence.html"])
def test_every_page_finds_a_reported_number_and_leads_to_its_cell(overview: Page, name: str) -> None:
    overview.goto((REPORTS / name).as_uri())
    assert search(overview, "no such words") == []
    assert overview.locator("#search-hits").inner_text() == "Nothing found"
    assert "SimCSE (BERT-base), Avg: 76.25 PCL table 2" in search(overview, "pcl 76.25 simcse bert-base")
    overview.locator("#search-hits a").first.click()
    wait_until(overview, "location.href.endsWith('papers/pcl.html#pcl-table2--bert-base-simcse--avg')")


def test_a_value_to_cite_finds_its_number_and_averages_come_before_test_sets(overview: Page) -> None:
    assert search(overview, "77.22")[0].startswith("DCLR, BERT-base 76.89, cite 77.22")
    hits = [hit for hit in search(overview, "77.22") if ": 77.22" in hit]
    averages = [", Avg: " in hit for hit in hits]
    assert len(hits) > 1
    assert averages == sorted(averages, reverse=True)


def test_the_navigation_is_one_line_on_a_window_of_1280_pixels(overview: Page) -> None:
    tops = overview.locator("nav.site > *").evaluate_all(
        "parts => parts.map((part) => part.getBoundingClientRect()).map((box) => (box.top + box.bottom) / 2)"
    )
    assert len(tops) <= 8
    assert max(tops) - min(tops) < 6


def test_one_menu_is_open_at_a_time(overview: Page) -> None:
    menus = overview.locator("nav.site details")
    assert menus.count() >= 1
    for number in range(menus.count()):
        summary = menus.nth(number).locator("summary")
        summary.focus()
        overview.keyboard.press("Enter")
        assert overview.locator("nav.site details[open]").count() == 1
        assert menus.nth(number).locator("a").first.is_visible()


@pytest.mark.parametrize("number", ["77.67", "0.7767"])
def test_a_number_on_a_scale_of_0_to_1_is_found_as_printed_and_in_points(overview: Page, number: str) -> None:
    """By the search of the page, by the filter of its tables, and by the browser's own search."""
    cell = "una-table1--bert-base-una-paraphrase--avg"
    overview.goto((REPORTS / "papers/una.html").as_uri())
    assert "UNA + paraphrase (BERT-base), Avg: 0.7767 UNA table 1" in search(overview, f"una {number}")
    overview.locator("#tables .finder [name=text]").fill(f"una {number}")
    assert overview.locator(f"tr:has(#{cell})").is_visible()
    assert overview.locator("#tables .found").inner_text() == "3 of 55 rows"
    found = overview.evaluate(
        """number => {
          const places = [];
          getSelection().removeAllRanges();
          for (let hit = 0; hit < 30 && window.find(number); hit += 1) {
            places.push(getSelection().anchorNode.parentElement.closest("[id]")?.id);
          }
          return places;
        }""",
        number,
    )
    assert cell in found
