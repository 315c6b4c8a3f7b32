"""The goals of a budget: which reported numbers each asks for, on this checkout's declarations."""

from __future__ import annotations

import pytest

from harness.assembly.budget import cells_of
from harness.assembly.tables import build_tables, evidence_of
from harness.errors import InputError
from harness.paths import LEADERBOARDS
from harness.report.pages.claims import load_claims
from harness.report.tables.model import Table


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    return build_tables(evidence_of([]))


def test_claims_ask_for_both_sides_of_every_claim(tables: dict[str, Table]) -> None:
    """SCT's first claim compares the averages of its row on BERT-tiny, SimCSE's, DCLR's and DiffCSE's."""
    found = cells_of(tables, "claims")
    declared = load_claims(LEADERBOARDS / "claims").values()
    assert {table.key for table, _, _ in found} == {one.table for claims in declared for one in claims}
    columns = {column.key: place for place, column in enumerate(tables["sct/table2"].columns)}
    averages = {
        row.key
        for table, row, cell in found
        if table.key == "sct/table2" and cell is row.cells[columns["Avg"]]
    }
    assert averages >= {f"{system}@bert-tiny" for system in ("sct", "simcse", "dclr", "diffcse")}
    assert not [cell for table, row, cell in found if table.key == "sct/table2" and cell is row.cells[0]]


def test_an_unknown_goal_is_refused_with_those_there_are(tables: dict[str, Table]) -> None:
    with pytest.raises(InputError, match=r"--goal claim: expected answers, claims, all, or a table.*claims"):
        cells_of(tables, "claim")
