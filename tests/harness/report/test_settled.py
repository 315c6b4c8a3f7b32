"""The end of a report: the number of settled numbers, and the cost of the next one."""

from dataclasses import replace

from harness.evidence.settling import Price
from harness.evidence.statistics import KnownSd
from harness.report.hours import settled_lines
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_judged import alone, judged

EXACT = KnownSd(0.0, 0)


def table(*cells: Cell) -> Table:
    columns = tuple(Column(str(index), str(index)) for index in range(len(cells)))
    return Table("t", "T", columns, (TableRow("row", "Row", cells),))


def cell(*values: float, reported: float = 75.0, hours: float = 1.0, known: KnownSd | None = None) -> Cell:
    number, others = alone(None)
    number = replace(number, value=reported)
    price = Price(f"sentbench plan paper/{hours:g}", {"run": hours}, {})
    known_number = judged(number, others, values=values, known=known, price=price)
    return Cell(number=number, values=values, judged=known_number)


def test_settled_and_open_numbers_are_counted_and_the_cheapest_open_one_is_next() -> None:
    """An exact system meets 75, another misses 76 by 4 points; two seeds of the others are inconclusive."""
    lines = settled_lines(
        [
            table(
                cell(75.0, known=EXACT),
                cell(72.0, reported=76.0, known=EXACT),
                cell(74.9, 75.1, reported=75.1, hours=3.0),
                cell(74.9, 75.1, reported=75.2, hours=2.0),
            )
        ]
    )
    assert lines[0] == "settled: 2 of 4 reported numbers (1 replicates, 1 does not replicate (lower))"
    assert lines[1].startswith("open: 2; next: ")
    assert "sentbench plan paper/2 --seeds " in lines[1]
    assert lines[2:] == []


def test_a_number_that_two_tables_quote_counts_once() -> None:
    quoted = table(cell(75.0, known=EXACT))
    assert (
        settled_lines([quoted, replace(quoted, key="u")])[0]
        == "settled: 1 of 1 reported number (1 replicates)"
    )


def test_a_cell_that_our_runs_may_not_judge_is_named_apart() -> None:
    apart = replace(cell(75.0, known=EXACT), no_verdict="other texts")
    assert settled_lines([table(apart)]) == ["without a verdict: 1 cell, with the reason in its details"]
