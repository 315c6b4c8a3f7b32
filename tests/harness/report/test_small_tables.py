"""The small plan's recorded scores fill a table in the form of the papers; what lacks data says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.report.formats.latex import to_latex
from harness.report.formats.markdown import to_markdown
from harness.report.tables.build import Evidence, build_table
from harness.report.tables.model import Table
from harness.report.tables.published import Published
from harness.report.tables.spec import TableSpec
from harness.results.store import read_results
from tests.harness.report.conftest import NO_STUDIES

SCORES = Path(__file__).parents[3] / "reports/scores"


@pytest.fixture
def table(specs: dict[str, TableSpec], published: Published) -> Table:
    evidence = Evidence(read_results(SCORES.glob("*.json")), published, NO_STUDIES)
    return build_table(specs["small-sts"], evidence)


def test_every_cell_with_data_is_filled_and_sickr_stays_empty(table: Table) -> None:
    keys = [column.key for column in table.columns]
    assert keys == ["STS12", "STS13", "STS14", "STS15", "STS16", "STSB", "SICKR", "Avg"]
    for row in table.rows:
        empty = [key for key, cell in zip(keys, row.cells, strict=True) if cell.value is None]
        assert empty == ["SICKR"], row.title
    assert len(table.rows) >= 15


def test_trained_rows_have_three_seeds_and_a_spread(table: Table) -> None:
    rows = {row.title: row for row in table.rows}
    for title in ("SimCSE", "MoCo", "PCL", "DCLR", "PT-BERT", "distillation"):
        assert {cell.n for cell in rows[title].cells if cell.value is not None} == {3}
        assert rows[title].cells[-1].sd is not None


def test_the_average_is_that_of_the_columns_with_data_and_is_marked_partial(table: Table) -> None:
    for row in table.rows:
        *parts, average = [cell.value for cell in row.cells if cell.value is not None]
        assert average == pytest.approx(sum(parts) / 6)
    assert "Avg (partial)" in to_markdown(table)
    assert r"Avg \textit{(partial)}" in to_latex(table)
    assert "small-scale" in to_markdown(table)
    assert "SICK-R (no data)" in to_markdown(table)


def test_the_whole_test_sets_are_a_table_of_their_own_that_the_mirror_fills(
    specs: dict[str, TableSpec],
) -> None:
    spec = specs["small-paper"]
    assert [column.task for column in spec.columns][:-1] == spec.columns[-1].mean_of
    assert all(not column.mark for column in spec.columns)
    assert "Small scale" in spec.protocol
