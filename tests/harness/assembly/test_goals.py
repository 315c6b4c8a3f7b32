"""The goals of a budget: which reported numbers each asks for, on this checkout's declarations."""

import pytest

from harness.assembly.budget import cells_of
from harness.assembly.tables import build_tables, evidence_of
from harness.errors import InputError
from harness.paths import LEADERBOARDS
from harness.report.pages.claims import load_claims


def test_claims_ask_for_both_sides_of_every_claim_and_an_unknown_goal_is_refused() -> None:
    """SCT's first claim compares the averages of its row on BERT-tiny, SimCSE's, DCLR's and DiffCSE's."""
    tables = build_tables(evidence_of([]))
    found = cells_of(tables, "claims")
    declared = load_claims(LEADERBOARDS).values()
    assert {table.key for table, _, _ in found} == {one.table for claims in declared for one in claims}
    average = [column.key for column in tables["sct/table2"].columns].index("Avg")
    of_sct = [(row, cell) for table, row, cell in found if table.key == "sct/table2"]
    averages = {row.key for row, cell in of_sct if cell is row.cells[average]}
    assert averages >= {f"{system}@bert-tiny" for system in ("sct", "simcse", "dclr", "diffcse")}
    assert not [cell for row, cell in of_sct if cell is row.cells[0]]
    with pytest.raises(InputError, match=r"--goal claim: expected answers, claims, all, or a table.*claims"):
        cells_of(tables, "claim")
