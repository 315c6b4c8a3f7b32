"""False-discovery control: hypotheses, and tables that form a page."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from harness.evidence.judged import Judged
from harness.report.tables.model import Cell, Column, Table, TableRow, judged_numbers
from harness.report.tables.rows import control, hypothesis, page_of
from tests.harness.report.made_judged import alone, judged, measured


def test_a_number_that_two_cells_quote_is_one_hypothesis_and_other_runs_or_numbers_are_another() -> None:
    def known(reported: float, *values: float) -> Any:
        fact = ("simcse@bert-base-uncased", "Avg", reported)
        return SimpleNamespace(fact=fact, values=values)

    quoted = [known(76.25, 75.0, 75.2), known(76.25, 75.0, 75.2)]
    others = [known(76.25, 75.0, 75.3), known(76.57, 75.0, 75.2)]
    assert len({hypothesis(quote) for quote in quoted}) == 1
    assert len({hypothesis(quote) for quote in (*quoted, *others)}) == 3


def test_the_tables_of_a_paper_are_one_page_and_any_other_table_is_its_own() -> None:
    assert page_of("pcl/table1") == page_of("pcl/table2") != page_of("una/table1")
    assert page_of("small") != page_of("small-pairs")


def table(several: list[Judged]) -> Table:
    """Returns the only table of a page, in which the page's false-discovery control is done."""
    rows = tuple(TableRow("r", "R", (Cell(judged=each),)) for each in several)
    return control({"p/t": Table("p/t", "T", (Column("A", "A"),), rows)})["p/t"]


def texts(several: list[Judged]) -> set[str]:
    """Returns the verdicts of the numbers of a page, in words."""
    return {judged.text for _, _, judged in judged_numbers([table(several)])}


def test_a_failure_that_is_not_a_discovery_on_its_page_keeps_its_level() -> None:
    """p = 0.04 holds alone, and not among four numbers, three of which have 0.5."""
    number, others = alone(1)
    failed = judged(number, others, values=[60.0, 60.1, 60.2, 60.3, 60.4])
    assert failed.ours is not None
    rows = [
        replace(failed, values=(float(index),), ours=replace(failed.ours, p=p))
        for index, p in enumerate((0.04, 0.5, 0.5, 0.5))
    ]
    assert texts(rows[:1]) == {"does not replicate (lower)"}
    assert texts(rows) == {"our mean is lower"}


def test_a_red_verdict_by_others_is_a_hypothesis_of_its_page() -> None:
    """p = 0.04 by three sources holds alone, and not next to three numbers with 0.5."""
    number, _ = alone(1)
    failed = judged(number, measured({"a": 60.0, "b": 60.1, "c": 60.2}))
    assert failed.text == "independent runs score lower"
    rows = [
        replace(failed, number=replace(number, row=str(index)), by_others=replace(failed.by_others, p=p))
        for index, p in enumerate((0.04, 0.5, 0.5, 0.5))
    ]
    assert texts(rows[:1]) == {"independent runs score lower"}
    assert texts(rows) == {"independent mean is lower"}


def test_a_number_without_three_sources_is_no_hypothesis_of_its_page() -> None:
    """p = 0.04 stays a discovery next to three numbers that nobody else measured, or one source did."""
    number, _ = alone(1)
    sources: list[dict[str, float]] = [{"a": 60.0, "b": 60.1, "c": 60.2}, {}, {}, {"a": 60.0}]
    first, *others = (
        judged(replace(number, row=str(index)), measured(means)) for index, means in enumerate(sources)
    )
    first = replace(first, by_others=replace(first.by_others, p=0.04))
    assert "independent runs score lower" in texts([first, *others])


def row_of(key: str, average: float, *cells: float) -> TableRow:
    """Returns a row of numbers that three sources judge: an average that is 15 off or right, and cells."""
    number, _ = alone(1)
    means = {"a": 60.0, "b": 60.1, "c": 60.2}
    numbers = [
        replace(number, row=key, column=str(index), value=value, averaged=("part",) * 7 * (index == 0))
        for index, value in enumerate((average, *cells))
    ]
    return TableRow(key, key, tuple(Cell(judged=judged(each, measured(means))) for each in numbers))


def shown(*rows: TableRow) -> list[list[bool]]:
    """Returns for each row which of its cells are red after the control of the page."""
    columns = tuple(Column(str(index), "") for index in range(3))
    page = control({"p/t": Table("p/t", "T", columns, rows)})["p/t"]
    return [[cell.judged.verdict.fails for cell in row.cells if cell.judged] for row in page.rows]


def test_a_cell_is_red_only_if_the_average_of_its_row_is() -> None:
    assert shown(row_of("r", 75.0, 75.0, 60.1)) == [[True, True, False]]
    assert shown(row_of("r", 60.1, 75.0, 60.1)) == [[False, False, False]]


def test_a_page_has_as_many_tests_as_rows_with_an_average() -> None:
    """p = 0.04 of an average holds next to its seven cells, and not next to three rows with 0.5."""
    first = row_of("r", 75.0, *[75.0] * 7)
    known = first.cells[0].judged
    assert known is not None
    weak = replace(known, by_others=replace(known.by_others, p=0.04))
    first = replace(first, cells=(Cell(judged=weak), *first.cells[1:]))
    assert shown(first)[0] == [True] * 8
    assert shown(first, *(row_of(str(n), 60.1, 60.1) for n in range(3)))[0] == [False] * 8
