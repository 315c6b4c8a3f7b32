"""Content shared by pages: the fingerprint of the results, which only the overview states."""

from dataclasses import replace

from harness.report.assembly.content import digest_of_results
from harness.report.pages.content import Report
from harness.report.pages.render import render_pages
from harness.report.pages.small import pages
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.example_report import make_leaderboard, make_runs
from tests.harness.report.made_results import result
from tests.harness.report.shown import show


def test_the_fingerprint_is_that_of_the_results_in_any_order() -> None:
    first, second = result("a", 0, {("STSB", "all"): 0.5}), result("a", 1, {("STSB", "all"): 0.5})
    digest = digest_of_results([first, second])
    assert digest_of_results([second, first]) == digest
    assert (
        len(
            {
                digest,
                digest_of_results([first]),
                digest_of_results([first, result("a", 1, {("STSB", "all"): 0.6})]),
            }
        )
        == 3
    )


def test_another_code_or_fingerprint_of_results_changes_the_overview_alone() -> None:
    given = Report("T", "abc", runs=make_runs(), tables=(make_leaderboard(),))
    before = render_pages(replace(given, results_digest="d1"))
    after = render_pages(replace(given, results_digest="d2", code="other"))
    assert [name for name in before if before[name] != after[name]] == ["index.html"]
    assert len(before) > 5


def test_included_tables_that_no_run_fills_are_named_with_the_command_that_runs_them() -> None:
    table = Table("own/table", "Own: a title", (Column("a", "A"),), (TableRow("r", "R", (Cell(),)),))
    (_, own) = pages(Report("T", "c", own_tables=(table,)))
    text = show(own, Report("T", "c", own_tables=(table,)))
    assert "No run of the present plan fills its 1 rows. To run it: <code>sentbench plan own/table" in text
