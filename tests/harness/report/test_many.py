"""False-discovery control: what counts as one hypothesis, and which tables are one page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from harness.report.tables.rows import hypothesis, page_of


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
