"""The reproduction log: which runs fill a paper's cells, from which commit, on what, and the result."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from harness.report.pages.content import Paper, Report
from harness.report.pages.log import LogEntry, log_of
from harness.report.runs import RunDetail
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.results.history import commit_dates
from tests.harness.report.shown import show_paper

OURS = RunDetail("a-s0", "a", "v", "b", 0, "", "1" * 40, "cpu", "fp32", {}, date="2026-01-02")
THEIRS = replace(OURS, key="a-s1", seed=1, device="cuda", git_commit="2" * 40, by="A lab", date="2026-03-04")
UNUSED = replace(OURS, key="z-s0")
CELLS = (
    Cell(70.0, n=2, published=70.0, finding="confirmed", runs=("a-s0", "a-s1")),
    Cell(70.0, n=1, published=72.0, finding="not settled", runs=("a-s0",)),
    Cell(70.0, n=1, runs=("a-s0",)),
)
TABLE = Table("p/t", "T", tuple(Column(f"c{i}", "C") for i in range(3)), (TableRow("r", "R", CELLS),))


def test_runs_of_one_commit_and_device_are_one_entry_and_the_newest_is_first() -> None:
    runs = {run.key: run for run in (OURS, THEIRS, UNUSED)}
    assert log_of([TABLE], runs) == [
        LogEntry("2026-03-04", "commit " + "2" * 10, "cuda", "A lab", "a · v · b", (1,), "1 confirmed"),
        LogEntry(
            "2026-01-02", "commit " + "1" * 10, "cpu", "", "a · v · b", (0,), "1 confirmed, 1 not settled"
        ),
    ]


def test_runs_that_fill_cells_without_a_print_say_so() -> None:
    bare = replace(TABLE, rows=(TableRow("r", "R", (CELLS[2],)),))
    (entry,) = log_of([bare], {"a-s0": OURS})
    assert entry.result == "1 cells, nothing printed"


def test_the_page_of_a_paper_ends_with_its_log_or_says_that_there_is_none() -> None:
    shown = show_paper(Report("T", "c", runs={"a-s0": OURS, "a-s1": THEIRS}), Paper("p", "P", "", (TABLE,)))
    assert "2026-03-04" in shown[shown.index('id="log"') :]
    assert "run by A lab" in shown
    assert "systems is on record yet" in show_paper(Report("T", "c"), Paper("p", "P", "", ()))


def test_the_date_of_a_commit_is_that_of_the_history_and_unknown_ones_have_none(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    day = {"GIT_COMMITTER_DATE": "2026-05-06T12:00:00", "PATH": "/usr/bin:/bin"}
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True, env=day)
    head = subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    assert commit_dates({head, "0" * 40, "unknown", "--all"}, folder=tmp_path) == {head: "2026-05-06"}
