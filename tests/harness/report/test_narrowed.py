"""One number computed alone equals its cell in the whole table."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.evidence.judged import Judged
from harness.report.assembly import tables
from harness.report.assembly.tables import build_one_table
from harness.report.tables.model import Cell, Column, Table, TableRow, find_cells, judged_numbers
from tests.harness.report.made_judged import alone, judged

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


@pytest.mark.parametrize(("others", "text"), [(3, "our mean is lower"), (0, "does not replicate (lower)")])
def test_a_number_alone_and_on_its_page_have_one_verdict(
    others: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """p = 0.04 holds alone, and not next to three numbers of the page's other table with 0.5; numbers of
    another page do not count.
    """
    number, nothing = alone(1)
    failed = judged(number, nothing, values=[60.0, 60.1, 60.2, 60.3, 60.4])
    assert failed.ours is not None
    several = [
        replace(failed, values=(float(index),), ours=replace(failed.ours, p=p))
        for index, p in enumerate((0.04, 0.5, 0.5, 0.5))
    ]

    def table(key: str, known: list[Judged]) -> Table:
        rows = tuple(TableRow("r", "R", (Cell(judged=each),)) for each in known)
        return Table(key, "T", (Column("A", "A"),), rows)

    known = {"p/t": table("p/t", several[:1]), "p/u": table("p/u", several[1 : 1 + others])}
    known |= {"q/t": table("q/t", several[1:])}
    specs: dict[str, Any] = {key: SimpleNamespace(key=key) for key in known}
    for name, stub in {
        "load_published": lambda: None,
        "load_recipes": dict,
        "load_spec": specs.__getitem__,
        "checked_specs": lambda published, recipes, given=None: given or specs,
        "narrowed_to": lambda spec, row, column: spec,
        "_evidence_for": lambda *given: None,
        "build_table": lambda spec, evidence: known[spec.key],
    }.items():
        monkeypatch.setattr(tables, name, stub)
    ((_, _, actual),) = judged_numbers([tables.build_one_table("p/t", "r", "A")])
    assert actual.text == text
