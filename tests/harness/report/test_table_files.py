"""A table for programs, its addresses on a page, the order of its rows, its citation."""

import csv
import io

from harness.evidence.spec import ColumnSpec, TableSpec
from harness.report.formats.summary import to_csv
from harness.report.pages.cells import anchors_of
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.tables.rows import TRAINED, UNTRAINED, order_of
from tests.harness.report.made_judged import printed

COLUMNS = (Column("STSB", "STS-B"), Column("Avg", "Avg"))


def row(title: str, value: float | None, group: str = "") -> TableRow:
    cell = (
        Cell(value, 0.5, 2, printed(70.0), runs=("r0", "r1"), values=(1.0, 2.0))
        if value is not None
        else Cell()
    )
    return TableRow(title, title, (cell, Cell(value)), group)


TABLE = Table("p/t", "A, table", COLUMNS, (row("a", 71.25, "x"), row("a", None, "y")), unit="Spearman × 100")


def test_csv_holds_one_record_for_every_cell_that_has_a_number() -> None:
    lines = list(csv.DictReader(io.StringIO(to_csv([TABLE, TABLE]))))
    assert len(lines) == 4
    first = lines[0]
    assert (first["table"], first["group"], first["column"], first["ours"]) == ("p/t", "x", "STSB", "71.25")
    assert (first["unit"], first["runs"], first["seeds_values"]) == ("Spearman × 100", "r0 r1", "1.0 2.0")
    assert [(line["column"], line["published"]) for line in lines[:2]] == [("STSB", "70.0"), ("Avg", "")]


def test_anchors_name_rows_by_title_and_by_group_only_where_two_rows_share_one() -> None:
    anchors = anchors_of(TABLE)
    assert (anchors.table, anchors.rows) == ("table-p-t", ("p-t--x-a", "p-t--y-a"))
    assert anchors.cell(1, 0) == "p-t--y-a--stsb"
    alone = Table("p/t", "", COLUMNS, (row("one", 1.0, "x"), row("two", 1.0, "x")))
    assert anchors_of(alone).rows == ("p-t--one", "p-t--two")


def test_rows_are_by_group_then_best_first_and_without_a_value_last() -> None:
    spec = TableSpec(key="small", title="t", rows_from="runs", order_by="Avg",
                     columns=[ColumnSpec(key="STSB"), ColumnSpec(key="Avg")])  # fmt: skip
    values = (("u", 99.0), ("none", None), ("low", 1.0), ("high", 2.0))
    rows = [row(title, value, UNTRAINED if title == "u" else TRAINED) for title, value in values]
    assert [rows[index].title for index in order_of(spec, rows)] == ["high", "low", "none", "u"]
