"""The reproduction log: which runs fill a paper's cells, from which code, on what, and the result."""

from harness.report.pages.content import Paper, Report
from harness.report.pages.paper import LogEntry, log_of
from harness.report.runs import RunDetail
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_results import result
from tests.harness.report.shown import show_paper

RUNS = {
    "a-s0": RunDetail(result("a", 0, {}, method="a", commit="1" * 40)),
    "a-s1": RunDetail(result("a", 1, {}, method="a", device="cuda", commit="2" * 40)),
    "z-s0": RunDetail(result("z", 0, {}, method="a")),
}
CELLS = (
    Cell(70.0, n=2, published=70.0, verdict="replicates", runs=("a-s0", "a-s1")),
    Cell(70.0, n=1, published=72.0, verdict="inconclusive", runs=("a-s0",)),
    Cell(70.0, n=1, runs=("a-s0",)),
)
TABLE = Table("p/t", "T", tuple(Column(f"c{i}", "C") for i in range(3)), (TableRow("r", "R", CELLS),))


def test_runs_of_one_commit_and_device_are_one_entry() -> None:
    assert log_of([TABLE], RUNS) == [
        LogEntry("commit " + "1" * 10, "cpu", "a · v · b", (0,), "1 replicates, 1 inconclusive"),
        LogEntry("commit " + "2" * 10, "cuda", "a · v · b", (1,), "1 replicates"),
    ]


def test_the_page_of_a_paper_ends_with_its_log_or_says_that_there_is_none() -> None:
    shown = show_paper(Report("T", "c", runs=RUNS), Paper("p", "P", "", (TABLE,)))
    assert "2222222222" in shown[shown.index('id="log"') :]
    assert "systems is on record yet" in show_paper(Report("T", "c"), Paper("p", "P", "", ()))
