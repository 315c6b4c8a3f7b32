"""One number computed alone equals its cell in the whole table."""

from pathlib import Path

import pytest

from harness.report.assembly.tables import build_one_table
from harness.report.tables.model import find_cells

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("table", "row", "column"),
    [("pcl/table2", "SimCSE", "Avg"), ("una/table1", "BERT-base UNA", "STS-B"), ("small", "glove", "STSB")],
)
def test_a_number_computed_alone_equals_its_cell_in_the_table(
    monkeypatch: pytest.MonkeyPatch, table: str, row: str, column: str
) -> None:
    """Of a mean the parts still feed it; of a table of runs, and by a shown title, all columns are built."""
    monkeypatch.chdir(ROOT)
    alone, whole = (build_one_table(table, *names) for names in ((row, column), ()))
    assert len(whole.columns) > 1
    cells = [[cell for _, cell in find_cells(narrowed, row, column)] for narrowed in (alone, whole)]
    assert cells[0]
    for narrowed, other in zip(*cells, strict=True):
        assert narrowed.judged == other.judged
        assert (narrowed.value, narrowed.number) == (other.value, other.number)
