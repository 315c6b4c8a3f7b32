"""A cell of a table on a scale of 0 to 1: its page can be searched in points, its pop-up has one scale."""

import re
from dataclasses import replace

import pytest

from harness.evidence.others import Others, nothing_known
from harness.evidence.studies import Study
from harness.report.pages.cells import cell_facts
from harness.report.pages.claims import Claim, ClaimedRows, claims_of, judge_claims
from harness.report.pages.content import Paper, Report
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_judged import judged, measured, printed
from tests.harness.report.shown import facts_of, show_paper, show_small

COLUMN = Column("Avg", "Avg", average=True)
SEEDS = [76.0, 77.0]


def by_its_authors() -> Others:
    """Two further runs of the authors of a number, with the mean 76.5."""
    study = Study.model_validate(
        {"system": "a@b", "kind": "re-run", "source": "x/y", "scores": {"Avg": SEEDS}, "file": "table 7"}
    )
    pool = replace(
        nothing_known().pools["same authors"],
        studies=(study,),
        runs={"toy": tuple(SEEDS)},
        sources={"toy": 76.5},
        counts={"toy": 2},
    )
    return replace(nothing_known(), pools={**nothing_known().pools, "same authors": pool}, by="toy")


def table_of(metric: str = "spearman", scale: float = 1.0, others: Others | None = None) -> Table:
    number = printed(77.67, metric=metric, table="dclr-table1")
    known = judged(number, others or by_its_authors())
    cell = Cell(77.5, 0.31, 2, number=number, judged=known, values=(77.2, 77.8), runs=("a", "b"))
    row = TableRow("a@b", "A", (cell,))
    decimals = 4 if scale == 1 else 2
    return Table("dclr-table1", "Table 1", (COLUMN,), (row,), scale=scale, decimals=decimals)


def facts(table: Table) -> dict[str, str]:
    return dict(cell_facts(table, COLUMN, table.rows[0].cells[0], {}))


def test_a_pop_up_states_points_and_once_what_is_printed() -> None:
    actual = facts(table_of())
    assert actual["Ours"] == "77.50 ± 0.31, n = 2 seeds"
    assert actual["Published"] == "77.67, printed 0.7767"
    assert actual["Difference"] == "−0.17"
    assert actual["Each seed"] == "a: 77.20, b: 77.80"
    assert actual["Its authors"] == "76.50, mean of one source with 2 runs"
    numbers = [float(number) for text in actual.values() for number in re.findall(r"\d+\.\d+", text)]
    assert [number for number in numbers if 0.5 < number < 1] == [0.7767]
    assert facts(table_of(scale=100.0))["Published"] == "77.67"


@pytest.mark.parametrize("metric", ["spearman", "pearson", "accuracy", "map", "mrr"])
def test_a_pop_up_states_points_of_each_kind_of_score(metric: str) -> None:
    assert facts(table_of(metric))["Published"] == "77.67, printed 0.7767"


def test_a_pop_up_keeps_the_scale_of_what_is_no_score() -> None:
    assert facts(table_of("uniformity"))["Published"] == "0.7767"


def test_a_pop_up_has_the_line_to_cite_as_verify_has_it() -> None:
    actual = facts(table_of())
    assert actual["Cite"].startswith("76.50 (95 % interval ")
    assert actual["Cite"].endswith("mean of 2 runs by its authors; the reported number is 77.67 (one run)")
    assert actual["From"].endswith("table 7")
    assert facts(table_of(others=nothing_known()))["Cite"] == "as reported (one run)"
    assert "From" not in facts(table_of(others=nothing_known()))
    sources = {"a": 74.0, "b": 75.0, "c": 75.4}
    assert facts(table_of(others=measured(sources)))["From"] == "a, b, c"


def test_a_page_has_the_points_of_each_number_on_another_scale_for_a_search() -> None:
    def page(table: Table) -> str:
        return show_small(Report("T", "abc", tables=(table,)))

    actual = page(table_of())
    assert '<span class="unseen" aria-hidden="true"> 77.50</span>' in actual
    places = re.search(r'data-facts="([^"]*)"', actual)
    assert places is not None
    assert ["Published", "77.67, printed 0.7767"] in facts_of(actual, places[1])
    assert "77.50</span>" in page(table_of(scale=100.0))
    assert 'class="unseen" aria-hidden="true"> 77' not in page(table_of(scale=100.0))


def test_the_claims_of_a_paper_are_in_points_as_in_their_picture() -> None:
    """The table prints 0.7767 and 0.7500: the difference is 2.67."""
    table = table_of()
    low = printed(75.0, metric="spearman", table="dclr-table1", row="c@d")
    other = TableRow("c@d", "C", (Cell(number=low, judged=judged(low, nothing_known())),))
    table = replace(table, rows=(*table.rows, other))
    rows = [ClaimedRows(better="a@b", worse=["c@d"])]
    claim = Claim(says="A is above C", source="section 1", table="t", columns=["Avg"], rows=rows)
    (actual,) = judge_claims([claim], {"t": table})
    assert actual.reported is not None
    assert actual.form.signed(actual.reported[0]) == "+2.67"
    picture = claims_of("t", [actual])
    assert picture is not None
    assert picture.rows[0]["value"] == 2.67


def test_rows_that_no_run_fills_are_not_called_without_evidence() -> None:
    run = TableRow("a@b", "A", (Cell(77.5, 0.31, 2, values=(77.2, 77.8), runs=("a", "b")),))
    table = Table("small", "Small", (COLUMN,), (run, TableRow("c@d", "C", (Cell(),))))
    text = show_small(Report("T", "abc", tables=(table,)))
    assert "Show 1 row of Small without a run" in text
    assert 'class="table-block all-bare"' not in text


def test_a_table_that_is_folded_as_a_whole_is_marked_to_hide_its_head() -> None:
    rows = tuple(
        TableRow(name, name, (Cell(number=number, judged=judged(number, nothing_known()), wanted=False),))
        for name, number in ((name, printed(75.0, row=f"{name}@b")) for name in "abcd")
    )
    table = Table("t", "T", (COLUMN,), rows)
    page = show_paper(Report("T", "abc"), Paper("none", "Toy", "ACL", (table,)))
    assert 'class="table-block all-bare" id="table-t"' in page
