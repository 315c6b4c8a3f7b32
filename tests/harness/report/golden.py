"""The page of the recorded score folder; run as a module it augmentations the golden file.

`python -m tests.harness.report.golden` is for a wanted change of the templates: read the difference before it
is committed. The numbers in it are those that test_renderers.py works out by hand.
"""

from __future__ import annotations

from pathlib import Path

from harness.declarations import read_declaration
from harness.disk.files import write_text
from harness.facts.published import load_published
from harness.facts.spec import TableSpec
from harness.report.pages.content import Paper, Report
from harness.report.runs import RunDetail
from harness.report.tables.build import Evidence, build_table
from harness.report.tables.model import Table
from harness.results.store import read_results
from tests.harness.report.conftest import NO_STUDIES
from tests.harness.report.shown import show_paper

RECORDED = Path(__file__).parent / "recorded"
GOLDEN = RECORDED / "expected.html"


def recorded_table() -> Table:
    """Returns the table of the recorded scores; see test_renderers.py."""
    results = read_results((RECORDED / "scores").glob("*.json"))
    evidence = Evidence(results, load_published(RECORDED / "published"), NO_STUDIES)
    return build_table(read_declaration(RECORDED / "table.yaml", TableSpec), evidence)


def render_recorded() -> str:
    """Returns what is between <main> and </main>: the table, its cells' facts, the runs."""
    table = recorded_table()
    runs = [RunDetail(result) for result in read_results((RECORDED / "scores").glob("*.json"))]
    report = Report("Recorded", "0" * 40, runs={run.about.key: run for run in runs})
    text = show_paper(report, Paper("toy", "A toy paper", "nowhere", (table,)))
    return text[text.index("<main") : text.index("</main>")] + "</main>\n"


if __name__ == "__main__":
    write_text(GOLDEN, render_recorded())
