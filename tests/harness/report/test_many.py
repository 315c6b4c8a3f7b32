"""False-discovery control: hypotheses, and tables that form a page."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any


from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.tables.rows import control, hypothesis, page_of
from tests.harness.report.made_judged import alone, judged


def test_a_number_that_two_cells_quote_is_one_hypothesis_and_other_runs_or_numbers_are_another() -> None:
    def known(reported: float, *values: float) -> Any:
        fact = ("simcse@bert-base-uncased", "Avg", reported)
        return SimpleNamespace(reported=SimpleNamespace(fact=fact), values=values)

    quoted = [known(76.25, 75.0, 75.2), known(76.25, 75.0, 75.2)]
    others = [known(76.25, 75.0, 75.3), known(76.57, 75.0, 75.2)]
    assert len({hypothesis(quote) for quote in quoted}) == 1
    assert len({hypothesis(quote) for quote in (*quoted, *others)}) == 3


def test_the_tables_of_a_paper_are_one_page_and_any_other_table_is_its_own() -> None:
    assert page_of("pcl/table1") == page_of("pcl/table2") != page_of("una/table1")
    assert page_of("small") != page_of("small-pairs")


def test_a_failure_that_is_not_a_discovery_on_its_page_keeps_its_level() -> None:
    """p = 0.04 holds alone, and not among four numbers, three of which have 0.5."""
    number, others = alone(1)
    verification = judged(number, others, values=[60.0, 60.1, 60.2, 60.3, 60.4])
    assert verification.ours is not None
    rows = []
    for index, p in enumerate((0.04, 0.5, 0.5, 0.5)):
        judged = replace(verification, values=(float(index),), ours=replace(verification.ours, p=p))
        rows.append(TableRow("r", "R", (Cell(verdict=verification.verdict, evidence=judged),)))
    for judged_rows, said in ((rows[:1], "does not replicate (lower)"), (rows, "borderline (lower)")):
        table = control({"p/t": Table("p/t", "T", (Column("A", "A"),), tuple(judged_rows))})["p/t"]
        assert {row.cells[0].verdict for row in table.rows} == {said}


def test_a_red_verdict_by_others_is_a_hypothesis_of_its_page() -> None:
    """p = 0.04 by three sources holds alone, and not next to three numbers with 0.5."""
    number, nothing = alone(1)
    pool = replace(nothing.independent, sources={"a": 60.0, "b": 60.1, "c": 60.2})
    verification = judged(number, replace(nothing, pools={**nothing.pools, "independent": pool}))
    assert verification.verdict == "independent runs score lower"
    rows = []
    for index, p in enumerate((0.04, 0.5, 0.5, 0.5)):
        reported = replace(number, row=str(index))
        judged = replace(verification, reported=reported, by_others=replace(verification.by_others, p=p))
        rows.append(TableRow("r", "R", (Cell(verdict=verification.verdict, evidence=judged),)))
    for judged_rows, said in (
        (rows[:1], "independent runs score lower"),
        (rows, "independent mean is lower"),
    ):
        table = control({"p/t": Table("p/t", "T", (Column("A", "A"),), tuple(judged_rows))})["p/t"]
        assert {row.cells[0].verdict for row in table.rows} == {said}


def test_a_number_without_three_sources_is_no_hypothesis_of_its_page() -> None:
    """p = 0.04 stays a discovery next to three numbers that nobody else measured, or one source did."""
    number, nothing = alone(1)
    pools = [
        {**nothing.pools, "independent": replace(nothing.independent, sources=sources)}
        for sources in ({"a": 60.0, "b": 60.1, "c": 60.2}, {}, {}, {"a": 60.0})
    ]
    cells = []
    for index, pool in enumerate(pools):
        known = judged(replace(number, row=str(index)), replace(nothing, pools=pool))
        if not index:
            known = replace(known, by_others=replace(known.by_others, p=0.04))
        cells.append(Cell(verdict=known.verdict, evidence=known))
    rows = tuple(TableRow("r", "R", (cell,)) for cell in cells)
    table = control({"p/t": Table("p/t", "T", (Column("A", "A"),), rows)})["p/t"]
    assert table.rows[0].cells[0].verdict == "independent runs score lower"
