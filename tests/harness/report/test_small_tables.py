"""The small plan's recorded scores fill a table in the form of the papers; what lacks data says so."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from harness.facts.published import Published
from harness.facts.spec import TableSpec
from harness.plan.names import recipes_of
from harness.plan.recipes import load_recipes
from harness.report.formats.latex import to_latex
from harness.report.formats.markdown import to_markdown
from harness.report.formats.summary import to_summary
from harness.report.pages.content import Report
from harness.report.tables.build import Evidence, build_table
from harness.report.tables.leaderboard import notes_of
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.tables.rows import TEACHERS, TRAINED, UNTRAINED
from harness.results.store import read_results
from tests.harness.report.conftest import NO_STUDIES
from tests.harness.report.shown import show_index

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


def test_the_average_is_that_of_the_columns_with_data_and_is_marked_partial(table: Table) -> None:
    for row in table.rows:
        *parts, average = [cell.value for cell in row.cells if cell.value is not None]
        assert average == pytest.approx(sum(parts) / 6)
    assert "Avg (partial)" in to_markdown(table)
    assert r"Avg \textit{(partial)}" in to_latex(table)
    assert "small-scale" in to_markdown(table)
    assert "SICK-R (no data)" in to_markdown(table)


def small(*rows: tuple[str, str, float | None]) -> Table:
    """A leaderboard of groups, names and averages; its first column is no average."""
    shown = tuple(
        TableRow(name, name, (Cell(value=99.0), Cell(value=value)), group=group)
        for group, name, value in rows
    )
    return Table("small", "S", (Column("STSB", "STS-B"), Column("Avg", "Avg")), shown)


def test_what_the_first_page_says_of_training_is_read_off_the_leaderboard() -> None:
    """Of two rows on `a` one is above the better untrained row, 40; teachers and other backbones are out."""
    rows = [
        (TRAINED, "simcse/released@a", 44.0),
        (TRAINED, "pcl/released@a", 38.0),
        (TRAINED, "sct/distill@b", 50.0),
        (TRAINED, "ct/released@c", None),
        (UNTRAINED, "pooled/mean@a", 40.0),
        (UNTRAINED, "pooled/cls@a", 10.0),
        (TEACHERS, "pooled/teacher@a", 90.0),
    ]
    scale, found = notes_of(small(*rows))
    assert "small encoders (a, b)" in scale
    assert found == (
        "On a 1 of 2 trained systems end above the best row without training (pooled/mean, 40.00); they "
        "reach 38.00 to 44.00."
    )
    rows[1] = (TRAINED, "pcl/released@a", 41.5)
    rows[4] = (UNTRAINED, "pooled/mean@a", 41.0)
    assert notes_of(small(*rows))[1].startswith("On a 2 of 2 trained systems end above the best row")
    assert len(notes_of(small())) == len(notes_of(None)) == 1


def test_both_forms_of_the_first_page_say_what_this_leaderboard_shows(
    specs: dict[str, TableSpec], published: Published
) -> None:
    """The scale, and a sentence on each of the two backbones that have trained and untrained rows."""
    results = read_results(SCORES.glob("*.json"))
    recipes = recipes_of((result.run.id for result in results), load_recipes())
    notes = notes_of(build_table(specs["small"], Evidence(results, published, NO_STUDIES, recipes=recipes)))
    assert [note.split()[:2] for note in notes[1:]] == [["On", "minilm-l2"], ["On", "words-50d"]]
    summary, page = (
        to_summary({}, [], notes=notes),
        html.unescape(show_index(Report("T", "abc", notes=notes))),
    )
    assert all(note in summary and note in page for note in notes)
