"""The small plan's recorded scores fill a table in the form of the papers; missing data are stated."""

import html
from pathlib import Path
from typing import Any

import pytest

from harness.evidence.published import Published
from harness.evidence.spec import TableSpec
from harness.evidence.store import read_results
from harness.plan.names import recipes_of
from harness.plan.recipes import load_recipes
from harness.report.formats.latex import to_latex
from harness.report.formats.markdown import to_markdown
from harness.report.formats.summary import to_summary
from harness.report.pages.content import Report
from harness.report.tables.build import Evidence, build_table
from harness.report.tables.leaderboard import small_notes, tables_of_plan
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.tables.rows import TRAINED, UNTRAINED
from tests.harness.report.conftest import NO_STUDIES
from tests.harness.report.shown import show_index

SCORES = Path(__file__).parents[3] / "reports/scores"


@pytest.fixture
def table(specs: dict[str, TableSpec], published: Published) -> Table:
    evidence = Evidence(read_results(SCORES.glob("*.json")), published, NO_STUDIES)
    return build_table(specs["small-sts"], evidence)


def test_every_cell_with_data_is_filled_and_the_average_is_over_these_columns(table: Table) -> None:
    keys = [column.key for column in table.columns]
    for row in table.rows:
        empty = [key for key, cell in zip(keys, row.cells, strict=True) if cell.value is None]
        if row.title == "its teacher":
            assert set(keys) - set(empty) == {"STSB"}
            continue
        assert empty == ["SICKR"], row.title
        *parts, average = [cell.value for cell in row.cells if cell.value is not None]
        assert average == pytest.approx(sum(parts) / 6)
    assert len(table.rows) >= 15
    assert "Avg (partial)" in to_markdown(table)
    assert r"Avg \textit{(partial)}" in to_latex(table)
    assert "SICK-R (no data)" in to_markdown(table)


def test_both_forms_of_the_first_page_say_at_which_scale_this_leaderboard_is(
    specs: dict[str, TableSpec], published: Published
) -> None:
    """On the backbones that have trained rows with scores."""
    results = read_results(SCORES.glob("*.json"))
    recipes = recipes_of((result.run.id for result in results), load_recipes())
    notes = small_notes(
        build_table(specs["small"], Evidence(results, published, NO_STUDIES, recipes=recipes))
    )
    assert "one small encoder (words-50d)" in notes[0]
    page = html.unescape(show_index(Report("T", "abc", notes=notes)))
    assert notes[0] in to_summary({}, [], notes=notes)
    assert notes[0] in page


def small_table(trained: dict[str, float | None], untrained: dict[str, float | None]) -> Table:
    """A table of one column with a row a system, all on an encoder unless the name has another one."""
    rows = [
        TableRow(name, name if "@" in name else f"{name}@words", (Cell(value=value),), group)
        for group, scores in ((TRAINED, trained), (UNTRAINED, untrained))
        for name, value in scores.items()
    ]
    return Table("small", "Small", (Column("Avg", "Avg"),), tuple(rows))


def test_the_notes_count_the_trained_systems_below_the_best_untrained_row_of_their_encoder() -> None:
    trained = {"simcse": 51.5, "distill": 54.1, "pcl": 50.7, "not-run": None}
    notes = small_notes(small_table(trained, {"whitened": 52.0, "raw": 41.0, "whitened@other": 99.0}))
    assert len(notes) == 2
    assert "whitened@words has an average of 52.00, above the means of 2 of 3 trained systems" in notes[1]


def test_without_an_untrained_row_on_the_same_encoder_no_note_compares_with_one() -> None:
    assert len(small_notes(small_table({"simcse": 51.5}, {"whitened@other": 99.0, "raw": None}))) == 1
    assert len(small_notes(None)) == 1


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        (["small"], ["small", "small-transfer"]),
        (["small-sts"], ["small-sts"]),
        (["pcl"], ["pcl/table2", "pcl/table20", "pcl/fig3"]),
        (["pcl/table2"], ["pcl/table2"]),
        (["pcl/figure3"], ["pcl/fig3"]),
        (["all"], ["pcl/table2", "pcl/table20", "pcl/fig3", "pcl-new/table1"]),
        (["pcl/fig3", "small-sts"], ["small-sts", "pcl/fig3"]),
        (["table2"], []),
    ],
)
def test_a_plan_fills_the_tables_of_its_names(names: list[str], keys: list[str]) -> None:
    """The table of other runs is no table of the small plan, and a paper's name is no prefix of another's."""
    every = ["small", "runs-sts", "small-transfer", "small-sts"]
    every += ["pcl/table2", "pcl/table20", "pcl/fig3", "pcl-new/table1"]
    tables: Any = {key: key for key in every}
    assert tables_of_plan(names, tables) == keys
