"""What a reader meets first: the average, folded rows, the width of a table, the filter of the methods."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.report.browser.conftest import Open

pytestmark = pytest.mark.browser
EDGE = "cell => cell.getBoundingClientRect().left"


def test_the_average_stays_on_a_phone_while_the_other_columns_scroll(open_page: Open) -> None:
    page = open_page("paper.html", width=390).page
    row = page.locator("#table-dclr-table1 tr.system:visible").first
    before = [row.locator("td").nth(place).evaluate(EDGE) for place in (0, 1)]
    page.locator("#table-dclr-table1 .scroller").evaluate("box => { box.scrollLeft = 150; }")
    after = [row.locator("td").nth(place).evaluate(EDGE) for place in (0, 1)]
    assert page.locator("#table-dclr-table1 thead th").nth(1).inner_text() == "Avg"
    assert after[0] == pytest.approx(before[0], abs=2)
    assert after[1] == pytest.approx(before[1] - 150, abs=2)


def test_a_folded_row_opens_by_its_box_by_a_search_and_by_its_address_without_a_script(
    open_page: Open, folder: Path
) -> None:
    for script in (True, False):
        page = open_page("paper.html", script=script).page
        row = page.locator("tr.system", has_text="GloVe avg")
        assert not row.is_visible()
        page.locator(".unfold").check()
        assert row.is_visible()
        page.locator(".unfold").uncheck()
        page.goto(f"{(folder / 'paper.html').as_uri()}#dclr-table1--glove-avg")
        assert row.is_visible()
    page = open_page("paper.html").page
    page.locator("[name=text]").fill("glove")
    assert page.locator("tr.system:visible").count() == 1


def test_a_wide_window_gives_a_papers_table_its_whole_width(open_page: Open) -> None:
    page = open_page("paper.html", width=1440).page
    table, main = (page.locator(name).first.bounding_box() for name in ("#table-dclr-table1 table", "main"))
    assert table is not None
    assert main is not None
    assert table["width"] == pytest.approx(main["width"], abs=1)


def test_a_filter_of_the_methods_leaves_the_tables_with_a_hit(open_page: Open) -> None:
    page = open_page("methods.html").page
    rows = page.locator(".audit tbody tr:visible")
    every = rows.count()
    page.locator("[name=text]").fill("simcse dropout")
    assert 0 < rows.count() < every / 4
    assert page.locator("#audit-simcse caption").is_visible()
    assert not page.locator("#audit-glove caption").is_visible()
    page.locator(".finder button").click()
    page.wait_for_timeout(50)
    assert rows.count() == every
