"""False-discovery control: what counts as one hypothesis, and which tables are one page."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.tables.rows import control, hypothesis, page_of
from harness.report.verification import verify
from tests.harness.report.test_verification import alone


def known(fact: tuple[str, str, float], values: tuple[float, ...]) -> Any:
    return SimpleNamespace(reported=SimpleNamespace(fact=fact), values=values)


def test_a_number_that_two_cells_quote_is_onehypothesis_and_other_runs_or_numbers_are_another() -> None:
    quoted = ("simcse@bert-base-uncased", "Avg", 76.25)
    hypotheses = [
        hypothesis(known(fact, values))
        for fact, values in (
            (quoted, (75.0, 75.2)),
            (quoted, (75.0, 75.2)),
            (quoted, (75.0, 75.3)),
            ((*quoted[:2], 76.57), (75.0, 75.2)),
        )
    ]
    assert hypotheses[0] == hypotheses[1]
    assert len(set(hypotheses)) == 3


def test_the_tables_of_a_paper_are_one_page_and_any_other_table_is_its_own() -> None:
    assert page_of("pcl/table1") == page_of("pcl/table2") != page_of("una/table1")
    assert page_of("small") != page_of("small-pairs")


def test_a_failure_that_is_no_discovery_on_its_page_becomes_inconclusive() -> None:
    """p = 0.04 holds alone, and not among four numbers, three of which have 0.5."""
    number, others = alone(1)
    found = verify(number, others, values=[60.0, 60.1, 60.2, 60.3, 60.4])
    assert found.ours is not None
    cells = [
        Cell(
            verdict=found.verdict,
            evidence=replace(found, values=(float(place),), ours=replace(found.ours, p=p)),
        )
        for place, p in enumerate((0.04, 0.5, 0.5, 0.5))
    ]
    one, four = (
        Table(f"{name}/t", "T", (Column("A", "A"),), tuple(TableRow("r", "R", (cell,)) for cell in some))
        for name, some in (("one", cells[:1]), ("four", cells))
    )
    controlled = control({table.key: table for table in (one, four)})
    assert controlled["one/t"].rows[0].cells[0].verdict == "does not replicate (lower)"
    assert {row.cells[0].verdict for row in controlled["four/t"].rows} == {"inconclusive"}
