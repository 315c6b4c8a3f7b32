"""Interaction on a page: sorting, keyboard, cells and their runs, links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.report.browser.conftest import Open

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def systems(page: Page, table: str) -> list[str]:
    return page.locator(f"#table-{table} tr.system th").all_inner_texts()


def test_sorting_orders_each_group_by_value_and_the_third_click_restores_the_order(open_page: Open) -> None:
    """STS-B of the first group is near 62.7, 62.2, 73.1 and 48.4: distill leads, pooled ends."""
    page = open_page().page
    reported = systems(page, "small-sts")
    head = page.locator("#table-small-sts thead th").nth(1)
    head.locator("button").focus()
    page.keyboard.press("Enter")
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
    assert systems(page, "small-sts") == reported


def test_rows_without_a_score_sort_last_both_ways_and_keep_their_order(open_page: Open) -> None:
    """SICK-R is known for nt-xent (near 62) and cls (near 48) in the first group alone."""
    page = open_page().page
    unscored = ["simcse released", "distill mse", "glove mean", "whitening glove"]
    for scored in (["simcse nt-xent", "pooled cls"], ["pooled cls", "simcse nt-xent"]):
        page.locator("#table-small-sts thead button", has_text="SICK-R").click()
        assert systems(page, "small-sts") == [*scored, *unscored]


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
    assert "dvc repro evaluate@RUN" in dialog.inner_text()
    assert dialog.locator("tbody tr:visible").count() == 3
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert page.evaluate("document.activeElement.dataset.title") == focused


def test_runs_lent_to_the_dialog_return_to_their_place(open_page: Open) -> None:
    page = open_page().page
    listed = "all => all.map((part) => part.id + part.open)"
    before = page.locator("#runs details.system").evaluate_all(listed)
    page.locator("#table-small-sts a.cell").nth(8).click()
    assert page.locator("#runs details.system").count() == len(before) - 1
    page.locator("#cell-dialog .close").click()
    page.wait_for_function(  # the browser closes the dialog in its own time
        "count => document.querySelectorAll('#runs details.system').length === count", arg=len(before)
    )
    assert page.locator("#runs details.system").evaluate_all(listed) == before


def test_a_table_is_one_tab_stop_and_arrows_skip_empty_cells(open_page: Open) -> None:
    """SICK-R has no number, so that the arrow goes on to the average."""
    page = open_page("all.html").page
    assert page.locator('#table-wide .cell[tabindex="0"]').count() == 1
    page.locator("#table-small-sts a.cell").nth(3).focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.title").endswith(" · Avg")
    assert "Ours" in page.locator("#tip").inner_text()
    assert page.locator('#table-small-sts .cell[tabindex="0"]').count() == 1


def test_the_focused_cell_of_a_wide_table_is_not_under_the_sticky_column_or_header(open_page: Open) -> None:
    page = open_page("all.html", width=390).page
    page.locator("#table-wide a.cell").first.focus()
    for key in ["ArrowRight"] * 12 + ["ArrowDown"] * 13 + ["ArrowLeft"] * 4 + ["ArrowUp"] * 10:
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


def test_a_tap_on_a_cell_without_runs_shows_its_facts(open_page: Open) -> None:
    page = open_page("paper.html", width=390).page
    page.locator(".unfold").check()
    page.locator("span.cell").first.click()
    assert "no independent result" in page.locator("#tip").inner_text()
    assert page.locator("#cell-dialog").is_visible()
    assert page.locator("#cell-dialog-runs").inner_text() == ""


def test_without_its_script_a_cell_still_leads_to_its_runs(open_page: Open) -> None:
    page = open_page(script=False).page
    page.locator("#table-small-sts a.cell").first.click()
    assert page.url.endswith("#system-simcse-released-minilm-l2")


def test_a_link_to_a_closed_system_opens_it(open_page: Open) -> None:
    page = open_page().page
    assert page.locator("#system-distill-mse-minilm-l2").get_attribute("open") is None
    page.evaluate("location.hash = 'system-distill-mse-minilm-l2'")
    page.wait_for_selector("#system-distill-mse-minilm-l2[open]")
