"""Folded rows, strips of cells, best values and repeated notes of the tables of pages."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from harness.evidence.ledger import Ledger
from harness.evidence.published import Published
from harness.evidence.spec import ColumnSpec, RowSpec, TableSpec
from harness.report.pages.cells import FactBook
from harness.report.pages.sources import system_sources
from harness.report.pages.strips import (
    REACH,
    STRIP_WIDTH,
    averages_first,
    bare_rows,
    is_bare,
    row_notes,
    strip_of,
)
from harness.report.tables.build import Evidence, build_table
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.tables.rows import mark_best
from tests.harness.report.made_judged import judged, measured, printed, with_verdict

NOBODY = Cell(number=printed(61.2), judged=with_verdict(61.2))
AUTHORS = Cell(number=printed(61.2), judged=with_verdict(61.2, "authors"))


@pytest.mark.parametrize(
    ("cells", "bare"),
    [
        ((NOBODY, NOBODY), True),
        ((NOBODY, AUTHORS), False),
        ((NOBODY, Cell(value=50.0)), False),
        ((Cell(), Cell()), True),
        ((Cell(number=printed(512.0)), Cell()), False),
    ],
    ids=["reported alone", "authors only", "a run of ours", "nothing", "a setting"],
)
def test_a_row_is_folded_if_nobody_measured_it_again(cells: tuple[Cell, ...], bare: bool) -> None:
    row = TableRow("r", "R", cells)
    assert is_bare(row) is bare
    other = TableRow("o", "O", (Cell(value=50.0), Cell()))
    table = Table("t", "T", (Column("a", "A"), Column("b", "B")), (row, other))
    counts = (1, sum(cell.judged is not None for cell in cells)) if bare else (0, 0)
    assert bare_rows(table) == counts


def test_a_small_table_that_nobody_measured_again_is_shown_as_a_whole() -> None:
    row = TableRow("r", "R", (NOBODY,))
    small, large = (Table("t", "T", (Column("a", "A"),), (row,) * rows) for rows in (3, 4))
    assert (bare_rows(small), bare_rows(large)) == ((0, 0), (4, 4))


def test_a_strip_has_others_and_ours_at_their_distance_and_the_far_ones_at_the_edge() -> None:
    known = judged(printed(75.0), measured({"one": 75.5, "two": 73.5, "three": 74.5}))
    strip = strip_of(Cell(number=known.number, judged=known, value=75.0 - 2 * REACH))
    assert strip is not None
    assert (strip.middle, strip.ours) == (round(-0.5 * STRIP_WIDTH / REACH, 1), -STRIP_WIDTH)
    assert strip.interval is not None
    assert strip.interval[0] < strip.middle < strip.interval[1]
    assert strip_of(NOBODY) is None
    assert strip_of(Cell(value=5.0)) is None


def test_a_strip_on_which_one_lab_decides_has_the_mean_of_its_runs_within_their_interval() -> None:
    """Twenty runs around 75, and one source of 75.4: the median, 75.2, is outside of their interval."""
    runs = tuple(75.0 + 0.3 * sign for sign in (-1, 1)) * 10
    others = measured({"lab/a": 75.0, "lab/b": 75.4}, {"lab/a": runs, "lab/b": (75.4,)})
    pool = replace(others.independent, counts={"lab/a": 20, "lab/b": 1})
    known = judged(printed(76.0), replace(others, pools={**others.pools, "independent": pool}))
    assert known.answer.source == "lab/a"
    assert known.others.independent.median == pytest.approx(75.2)
    strip = strip_of(Cell(number=known.number, judged=known))
    assert strip is not None
    assert strip.middle == -STRIP_WIDTH / REACH
    assert strip.interval is not None
    assert strip.interval[0] < strip.middle < strip.interval[1] < STRIP_WIDTH * -0.8 / REACH


def test_averages_come_first_and_other_columns_keep_their_order() -> None:
    columns = [Column("a", "A"), Column("avg", "Avg", average=True), Column("b", "B")]
    assert averages_first(Table("t", "T", tuple(columns), ())) == [1, 0, 2]


def test_an_equal_note_is_stated_once_with_the_rows_that_have_it() -> None:
    rows = [TableRow(name, name, (), note=note) for name, note in (("a", "x"), ("b", "y"), ("c", "x"))]
    assert row_notes(rows) == [(["a", "c"], "x"), (["b"], "y")]
    first, second = (Table(key, key, (), ()) for key in "pq")
    book = FactBook()
    assert [book.stated_by("x", table).key for table in (first, second, first)] == ["p", "p", "p"]
    assert book.stated_by("y", second) is second


def test_the_best_reported_value_of_a_column_and_group_is_marked(
    published: Published, ledger: Ledger, specs: dict[str, TableSpec]
) -> None:
    """Of BERT-base PCL's single run leads the average; a group of one row has no best."""
    evidence = Evidence([], published, ledger)
    table = build_table(specs["pcl/table2"], evidence)
    (average,) = [place for place, column in enumerate(table.columns) if column.average]
    best = {(row.group, row.title) for row in table.rows if row.cells[average].best}
    groups: dict[str, list[tuple[float, str]]] = {}
    for row in table.rows:
        groups.setdefault(row.group, []).append((row.cells[average].published or 0.0, row.title))
    assert best == {(group, max(rows)[1]) for group, rows in groups.items() if len(rows) > 1}
    assert ("BERT-base", "PCL (single run)") in best


def test_the_best_is_the_lowest_where_lower_is_better_and_equal_ones_share_it() -> None:
    """Settings, columns without a direction, spreads and rows that do not compete have no best."""
    keys: dict[str, dict[str, Any]] = {
        "high": {}, "low": {"better": "lower"}, "plain": {"unit": "plain"}, "none": {"better": "none"},
        "sd": {"statistic": "sd"},
    }  # fmt: skip
    columns = [ColumnSpec(key=key, **more) for key, more in keys.items()]
    groups = {"a": "g", "b": "g", "c": "g", "d": "h", "aside": "g"}
    declared = [RowSpec(title=name, group=group, competes=name != "aside") for name, group in groups.items()]
    values = {"a": 3.0, "b": 3.0, "c": 1.0, "d": 2.0, "aside": 9.0}
    cells = {name: tuple(Cell(number=printed(value)) for _ in columns) for name, value in values.items()}
    rows = [TableRow(name, name, cells[name], group) for name, group in groups.items()]

    def best(compete: str) -> dict[str, list[str]]:
        spec = TableSpec(key="toy", title="T", columns=columns, rows=declared, compete=compete)  # type: ignore[arg-type]
        marked = mark_best(spec, declared, rows)
        return {
            key: [row.key for row in marked if row.cells[place].best]
            for place, key in enumerate(keys)
            if any(row.cells[place].best for row in marked)
        }

    assert best("group") == {"high": ["a", "b"], "low": ["c"]}
    low = {**values, "d": 0.5}
    rows = [replace(row, cells=tuple(Cell(number=printed(low[row.key])) for _ in columns)) for row in rows]
    assert best("table") == {"high": ["a", "b"], "low": ["d"]}


def test_systems_of_the_evidence_with_most_independent_sources_come_first() -> None:
    def row(name: str, sources: int) -> TableRow:
        studies: Any = tuple(SimpleNamespace(kind="re-run") for _ in range(sources))
        others = measured({str(n): 75.0 for n in range(sources)})
        pool = replace(others.independent, studies=studies)
        number = printed(75.0, row=f"{name}@b")
        known = judged(number, replace(others, pools={**others.pools, "independent": pool}))
        return TableRow(name, name, (Cell(number=number, judged=known),))

    table = Table("t", "T", (Column("Avg", "Avg"),), (row("few", 1), row("many", 3), row("some", 2)))
    assert [system.name for system in system_sources([table])] == ["many", "some", "few"]
