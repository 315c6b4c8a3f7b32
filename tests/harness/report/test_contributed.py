"""Contributed results on pages and in tables: a word and a place of their own; nothing of ours changes."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.report.formats.latex import to_latex
from harness.report.formats.markdown import to_markdown
from harness.report.formats.summary import records
from harness.report.formats.text import to_terminal
from harness.report.pages.content import Paper, Report
from harness.report.pages.render import render_pages
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.verification import Contributed
from harness.results.contributions import Checked, Contribution
from tests.harness.report.shown import show_paper
from tests.support.bundles import ANNA, a_result

GROUP = Contributed("scores only", (71.0, 73.0), ("a-s1", "a-s2"), ("Anna's lab", "Anna's lab"))
OURS = Cell(70.0, 0.5, 3, published=70.1, verdict="replicates", runs=("a-s0",), values=(70.0,))


def table_of(cell: Cell) -> Table:
    return Table("p/t", "T", (Column("STSB", "STS-B"),), (TableRow("r", "SimCSE", (cell,)),))


def test_every_form_of_a_table_names_what_was_contributed_and_its_own_numbers_stay() -> None:
    with_it, without = table_of(replace(OURS, contributed=(GROUP,))), table_of(OURS)
    for form in (to_markdown, to_terminal, to_latex):
        assert "contributed, in points: (by Anna's lab; scores only; no verdict) 72.00" in form(with_it)
        assert "contributed" not in form(without)
    (one,), (other,) = records(with_it), records(without)
    changed = {key: value for key, value in one.items() if other.get(key) != value}
    assert changed == {
        "contributed": [71.0, 73.0],
        "contributed_runs": ["a-s1", "a-s2"],
        "contributed_checked": "scores only; scores only",
    }
    (fraction,) = records(replace(with_it, scale=1.0))
    assert fraction["contributed"] == [0.71, 0.73]


@pytest.mark.parametrize("cell", [OURS, Cell()])
def test_a_cell_of_a_page_says_contributed_also_where_we_ran_nothing(cell: Cell) -> None:
    shown = show_paper(
        Report("T", "c"), Paper("p", "P", "", (table_of(replace(cell, contributed=(GROUP,))),))
    )
    assert "contributed 72.00 (2)" in shown
    assert "scores only; no verdict" in shown


def test_the_page_of_contributed_results_names_who_how_far_checked_and_what_was_set_aside() -> None:
    checked = Checked(identity=False, rescored=["T0"], weights="best-dev")
    one = Contribution(Path("x.json"), ANNA, "anna@example.org", a_result(), checked)
    report = Report("T", "c", contributed=(one,), set_aside=("bad.json: not JSON",))
    page = render_pages(report)["pages/contributed.html"]
    for part in ("signed by anna@example.org", "<b>rescored here</b>: T0", "<b>scores only</b>: T1"):
        assert part in page
    assert "not checked" in page
    assert "bad.json: not JSON" in page
    assert "pages/contributed.html" not in render_pages(Report("T", "c"))


def test_who_may_not_be_cited_is_not_named() -> None:
    quiet = ANNA.model_copy(update={"may_be_cited": False})
    one = Contribution(Path("x"), quiet, "anna@example.org", a_result(), Checked(identity=True))
    assert one.by == "a contributor (signed)"
