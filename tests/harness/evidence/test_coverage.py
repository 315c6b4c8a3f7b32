"""Coverage of the papers' tables: every reported row is in its table, with a run or the reason for none."""

from harness.evidence.published import Published
from harness.evidence.spec import RowSpec, TableSpec


def has_run(spec: TableSpec, row: RowSpec) -> bool:
    """Returns whether runs are meant to fill any cell of a row."""
    return any(spec.choice(row, column) is not None for column in spec.columns)


def test_every_reported_row_is_in_its_table(specs: dict[str, TableSpec], published: Published) -> None:
    of_papers = {key: spec for key, spec in specs.items() if "/" in key}
    assert len(of_papers) == 41
    reported = 0
    for key, spec in of_papers.items():
        shown = {row.published for row in spec.rows}
        shown |= {cell.published for row in spec.rows for cell in row.cells.values()}
        rows = {row.key for row in published.table(spec.published).rows} if spec.published else set()
        assert rows == shown - {None}, key
        reported += len(rows)
    assert reported > 250


def test_a_row_without_a_run_says_why(specs: dict[str, TableSpec]) -> None:
    without = [
        (key, row.title, row.note)
        for key, spec in specs.items()
        for row in spec.rows
        if "/" in key and not has_run(spec, row)
    ]
    assert len(without) == 12
    assert all(note.startswith("not run: ") for _, _, note in without), without
