"""Content shared by pages: the stamp in the footer."""

from pathlib import Path

from harness.report.assembly.content import stamp_of
from harness.report.pages.content import Report, Stamp
from tests.harness.report.made_results import result
from tests.harness.report.shown import show_index
from tests.support.git import git


def test_equal_results_keep_the_stamp_of_a_report_and_other_results_get_the_checkouts(
    tmp_path: Path,
) -> None:
    """A page is built at one commit and again at the next, as happens when it is committed."""
    page, results = tmp_path / "index.html", [result("a", 0, {("STSB", "all"): 0.5})]
    assert stamp_of(results, page).commit == stamp_of(results, page).date == ""
    git(tmp_path, "init", "-q")
    commits = []
    for _ in range(2):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", "c")
        commits.append(stamp_of(results, tmp_path / "none.html").commit)
        if not page.exists():
            first = stamp_of(results, page)
            page.write_text(show_index(Report("T", "abc", stamp=first)), encoding="utf-8")
    assert len(set(commits)) == 2
    assert stamp_of(results, page) == first == Stamp(first.results, commits[0], first.date)
    assert first.date.count("-") == 2
    changed = [result("a", 0, {("STSB", "all"): 0.6})]
    assert stamp_of(changed, page).commit == commits[1]
