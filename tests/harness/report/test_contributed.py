"""Contributed results on pages and in tables: a word and a place of their own; nothing of ours changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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
    assert (one["contributed"], one["contributed_runs"]) == ([71.0, 73.0], ["a-s1", "a-s2"])
    assert one["contributed_checked"] == "scores only; scores only"
    (fraction,) = records(replace(with_it, scale=1.0))
    assert fraction["contributed"] == [0.71, 0.73]
    assert {k: v for k, v in one.items() if "contributed" not in k} == {
        k: v for k, v in other.items() if "contributed" not in k
    }


def test_a_cell_of_a_page_says_contributed_also_where_we_ran_nothing() -> None:
    for cell in (OURS, Cell()):
        paper = Paper("p", "P", "", (table_of(replace(cell, contributed=(GROUP,))),))
        shown = show_paper(Report("T", "c"), paper)
        assert "contributed 72.00 (2)" in shown
        assert "scores only; no verdict" in shown


def test_the_page_of_contributed_results_names_who_how_far_checked_and_what_was_set_aside() -> None:
    checked = Checked(identity=False, rescored=["T0"], weights="best-dev")
    one = Contribution(Path("x.json"), ANNA, "anna@example.org", a_result(), checked)
    report = Report("T", "c", contributed=(one,), set_aside=("bad.json: not JSON",))
    page = render_pages(report)["pages/contributed.html"]
    for part in (
        "signed by anna@example.org",
        "<b>rescored here</b>: T0",
        "<b>scores only</b>: T1",
        "not checked",
    ):
        assert part in page
    assert "bad.json: not JSON" in page
    assert "pages/contributed.html" not in render_pages(Report("T", "c"))


def test_who_may_not_be_cited_is_not_named() -> None:
    quiet = ANNA.model_copy(update={"may_be_cited": False})
    one = Contribution(Path("x"), quiet, "anna@example.org", a_result(), Checked(identity=True))
    assert one.by == "a contributor (signed)"
