"""Reading a page: whole tables, addresses, downloads, search, two systems, print."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.evidence.differences import Difference
from harness.evidence.system_pairs import against_all, compare_systems, system_scores, tally_in_words
from tests.harness.report.browser.conftest import Open, make_rivals, wait_until
from tests.harness.report.made_results import result

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def test_a_table_that_fits_has_no_scroller_and_a_long_one_is_whole_under_a_head_that_stays(
    open_page: Open,
) -> None:
    """At 1,280 pixels the first table fits; the other has 30 columns: an edge tells that more follow."""
    page = open_page("all.html").page
    fits, wide = (page.locator(f"#table-{key} .scroller") for key in ("small-sts", "wide"))
    assert fits.evaluate("box => getComputedStyle(box).overflow") == "visible"
    assert fits.get_attribute("tabindex") is None
    assert wide.evaluate("box => box.scrollHeight - box.clientHeight") <= 1
    assert wide.evaluate("box => box.scrollWidth > box.clientWidth")
    assert "gradient" in wide.evaluate("box => getComputedStyle(box).backgroundImage")
    page.locator("#table-wide tr.system").nth(12).evaluate("row => row.scrollIntoView({ block: 'center' })")
    wait_until(page, "Math.abs(document.querySelector('#table-wide thead').getBoundingClientRect().top) < 2")
    wide.evaluate("box => { box.scrollLeft = 600; }")
    first = page.locator("#table-wide tr.system").nth(12).locator("th")
    assert first.evaluate("head => head.getBoundingClientRect().left >= 0")


def test_without_a_script_a_wide_table_scrolls_sideways_and_every_table_has_its_downloads(
    open_page: Open,
) -> None:
    page = open_page("all.html", script=False, width=390).page
    assert page.locator("#table-wide .scroller").evaluate("box => getComputedStyle(box).overflowX") == "auto"
    assert page.locator("#table-wide .take a[download]").count() == 3
    assert page.locator("form:visible, [data-copy]:visible").count() == 0
    page.locator("#cite summary").click()
    assert "@misc{sentbench-" in page.locator("#citation").inner_text()


def test_a_click_gives_the_page_the_address_of_the_cell_which_leads_back_to_it(open_page: Open) -> None:
    page = open_page().page
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.locator("#table-small-sts tr.system").nth(1).locator(".cell").first.click()
    anchor = "small-sts--simcse-nt-xent--stsb-test"
    assert page.url.endswith(f"#{anchor}")
    dialog = page.locator("#cell-dialog")
    for what, words in (
        ("link", f"#{anchor}"),
        ("citation", "@misc{sentbench-"),
        ("command", "evaluate@simcse-nt-xent-s2"),
    ):
        dialog.locator(f"[data-copy={what}]").click()
        wait_until(page, f"window.copied.includes({words!r})")
    page.keyboard.press("Escape")
    page.reload()
    assert page.locator("td:target").get_attribute("id") == anchor
    assert page.locator("td:target").is_visible()


def test_a_reported_number_is_verified_by_the_command_that_its_cell_copies(open_page: Open) -> None:
    page = open_page("paper.html").page
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.locator(".unfold").check()
    page.locator("span.cell").first.focus()
    page.keyboard.press("Enter")
    page.locator("#cell-dialog [data-copy=command]").click()
    wait_until(page, "window.copied")
    assert page.evaluate("window.copied") == "sentbench verify dclr-table1 glove avg"


def test_rows_are_found_by_words_backbone_and_finding(open_page: Open) -> None:
    page = open_page("paper.html").page
    rows = partial(page.locator("tr.system:visible th").all_inner_texts)
    assert len(rows()) == 2, "a row without evidence is folded"
    page.get_by_label("Show 1 row of Table 1 without evidence (8 cells: no independent result)").check()
    assert len(rows()) == 3
    page.locator(".unfold").uncheck()
    page.locator("[name=verdict]").select_option("authors-only")
    assert rows() == ["DCLR"]
    page.locator(".finder button").click()
    page.locator("[name=text]").fill("glove")
    assert rows() == ["GloVe avg\ncited"]
    assert page.locator(".found").inner_text() == "1 of 3 rows"
    page.locator("[name=backbone]").select_option("minilm-l2")
    assert rows() == []


def test_two_systems_compare_on_the_page_as_they_do_in_python(open_page: Open) -> None:
    """The page's lookup, in both directions, equals harness/evidence/system_pairs.py.

    Three seeds against three, three against one run and a system without seeds, and two without seeds.
    """
    systems = system_scores(make_rivals())
    page = open_page("compare.html").page
    outcomes = set()
    for first, second in (
        *(("one", "two"), ("two", "one"), ("two", "single")),
        *(("fixed", "two"), ("two", "fixed"), ("same", "fixed")),
    ):
        actual = compare_systems(systems[f"{first}@b"], systems[f"{second}@b"])
        assert actual.mean is not None
        page.locator("[name=first]").select_option(actual.first)
        page.locator("[name=second]").select_option(actual.second)
        shown = page.locator("#pick-table tbody tr").evaluate_all(
            "rows => rows.map((row) => [...row.cells].map((cell) => cell.textContent.replaceAll('−', '-')))"
        )
        named = {**{name.task: difference for name, difference in actual.tasks.items()}, "Mean": actual.mean}
        assert shown == [[task, *row_of(difference)] for task, difference in named.items()]
        outcomes |= {difference.outcome for difference in named.values()}
        words = page.locator("#pick-words").inner_text()
        said = (tally_in_words(actual.tally, systems[actual.first].label), actual.power_in_words)
        assert words == "; ".join(filter(None, said))
    assert outcomes == {"won", "lost", "inconclusive", "equal"}
    assert page.url.endswith("#first=same%40b&second=fixed%40b")
    page.reload()
    assert page.locator("[name=second]").input_value() == "fixed@b"


def test_a_pair_with_the_best_system_also_tells_what_holds_among_all(open_page: Open) -> None:
    systems = system_scores(make_rivals())
    everyone = {
        **systems,
        **system_scores([result("a", seed, {("STS12", "all"): 0.5 + seed / 100}) for seed in (0, 1)]),
    }
    page = open_page("compare.html").page
    best = page.locator("[name=first]").input_value()
    joint = {compared.second: compared.mean for compared in against_all(everyone[best], [*everyone.values()])}
    line = page.locator("#pick-jointly")
    for first, second, sign in ((best, "two@b", 1), ("two@b", best, -1)):
        page.locator("[name=first]").select_option(first)
        page.locator("[name=second]").select_option(second)
        mean = joint["two@b"]
        assert mean is not None
        assert f"the mean is {100 * sign * mean.difference:+.2f} (" in line.inner_text().replace("−", "-")
        assert f"Tested jointly with all {len(everyone)} systems" in line.inner_text()
    for name, key in (("first", "fixed@b"), ("second", "same@b")):
        page.locator(f"[name={name}]").select_option(key)
    assert line.is_hidden()


def row_of(difference: Difference) -> list[str]:
    """A difference as shown on the page, in points."""
    interval = (
        "–"
        if difference.interval is None
        else f"{100 * difference.interval.low:+.2f} to {100 * difference.interval.high:+.2f}"
    )
    values = [f"{100 * value:.2f}" for value in (difference.first, difference.second)]
    return [
        *values,
        f"{100 * difference.difference:+.2f}",
        interval,
        ", ".join(map(str, difference.seeds)),
        difference.outcome,
    ]


def test_the_committed_overview_prints_on_about_five_sheets_without_the_records_of_runs(
    browser: Browser,
) -> None:
    page = browser.new_page()
    page.goto((Path(__file__).parents[4] / "reports/index.html").as_uri())
    sheets = re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))
    assert 3 <= len(sheets) <= 6
    page.emulate_media(media="print")
    assert page.locator("#runs details.system:visible").count() == 0
    page.close()


CUT_NAMES = """() => [...document.querySelectorAll('.audit code')].filter(code => {
  const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  let before = '', height = null, cut = false;
  while (walker.nextNode()) {
    for (let place = 0; place < walker.currentNode.length; place++) {
      const range = document.createRange();
      range.setStart(walker.currentNode, place);
      range.setEnd(walker.currentNode, place + 1);
      const letter = range.toString(), top = range.getBoundingClientRect().top;
      cut ||= height !== null && top - height > 4 && /\\w/.test(letter) && /[a-z0-9]/i.test(before);
      [before, height] = [letter, top];
    }
  }
  return cut;
}).map(code => code.textContent)"""
"""The names on a page with a line break between two letters."""


@pytest.mark.parametrize("width", [390, 1280])
def test_a_name_on_the_page_of_methods_breaks_after_its_separators_only(open_page: Open, width: int) -> None:
    page = open_page("methods.html", width=width).page
    assert page.locator(".audit code").count() > 100
    assert page.evaluate(CUT_NAMES) == []
