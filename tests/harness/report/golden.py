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
from harness.results.store import read_results
from tests.harness.report.conftest import NO_STUDIES
from tests.harness.report.shown import show_paper

RECORDED = Path(__file__).parent / "recorded"
GOLDEN = RECORDED / "expected.html"


def render_recorded() -> str:
    """Returns what is between <main> and </main>: the table, its cells' facts, the runs."""
    results = read_results((RECORDED / "scores").glob("*.json"))
    folder = RECORDED / "published"
    evidence = Evidence(results, load_published(folder), NO_STUDIES)
    table = build_table(read_declaration(RECORDED / "table.yaml", TableSpec), evidence)
    runs = [RunDetail(result) for result in results]
    report = Report("Recorded", "0" * 40, runs={run.about.key: run for run in runs})
    text = show_paper(report, Paper("toy", "A toy paper", "nowhere", (table,)))
    return text[text.index("<main") : text.index("</main>")] + "</main>\n"


if __name__ == "__main__":
    write_text(GOLDEN, render_recorded())
