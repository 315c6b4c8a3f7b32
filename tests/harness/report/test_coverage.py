"""Coverage of the papers' tables: every reported row has a run or a reason."""

import json
from collections.abc import Callable

import pytest

from harness.errors import InputError
from harness.evidence.published import Published
from harness.evidence.spec import TableSpec
from harness.io.declarations import LEADERBOARDS, read_declaration
from harness.report.tables.coverage import NOT_RUN, NotRun, coverage_of, has_run

NONE = NotRun(tables={}, systems={})


def test_every_reported_row_has_a_run_or_a_reason(specs: dict[str, TableSpec], published: Published) -> None:
    reasons = read_declaration(LEADERBOARDS / NOT_RUN, NotRun)
    of_papers = [spec for key, spec in specs.items() if "/" in key]
    actual = [coverage_of(spec, published, reasons) for spec in of_papers]
    assert {key for table in actual for key in table.cited} == {*reasons.tables, *reasons.systems}
    assert len(actual) == 41
    assert all(table.reported == table.run + sum(table.cited.values()) for table in actual)
    assert sum(table.reported for table in actual) > 250
    cited = [row for spec in of_papers for row in spec.rows if not has_run(spec, row)]
    assert all(row.published for row in cited)


def test_a_table_is_counted_row_by_row(specs: dict[str, TableSpec], published: Published) -> None:
    """PT-BERT table 4 prints nine rows; here crop and deletion have no run. C4 also has our means."""
    spec = specs["ptbert/table4"]
    cited = ("SimCSE + crop", "SimCSE + deletion")
    rows = [row.model_copy(update={"run": None}) if row.title in cited else row for row in spec.rows]
    reasons = NotRun(tables={}, systems={"simcse/crop": "no switch", "simcse": "not run"})
    actual = coverage_of(spec.model_copy(update={"rows": rows}), published, reasons)
    assert (actual.reported, actual.run, actual.more) == (9, 7, 0)
    assert actual.cited == {"simcse/crop": 1, "simcse": 1}
    assert actual.words == (
        "9 rows in the paper, 7 with a recipe that runs them, "
        "2 cited: simcse/crop (1): no switch; simcse (1): not run"
    )
    sweep = coverage_of(specs["una/table-c4"], published, NONE)
    assert (sweep.reported, sweep.run, sweep.more, sweep.cited) == (2, 2, 2, {})


def test_a_row_without_a_run_and_without_a_reason_is_one_line(
    specs: dict[str, TableSpec], published: Published
) -> None:
    with pytest.raises(InputError, match=r"row 'clear' has no run, and not-run\.yaml no reason"):
        coverage_of(specs["ptbert/table3"], published, NONE)


def test_the_command_prints_a_line_a_table(printed: Callable[..., str]) -> None:
    lines = [" ".join(line.split()) for line in printed("list", "tables", "--coverage").splitlines()]
    assert len(lines) == 41
    assert "pcl/table3 4 rows in the paper, 4 with a recipe that runs them, 0 cited" in lines
    entries = {
        entry["name"]: entry for entry in json.loads(printed("list", "tables", "--coverage", "--json"))
    }
    assert entries["pcl/table4"]["cited"] == {"skip-thought": 1, "is-bert": 1}
