"""The page of the recorded score folder: what its cells say is what test_renderers.py works out by hand."""

import html
import json
import re
from pathlib import Path

from harness.declarations import read_declaration
from harness.facts.published import load_published
from harness.facts.spec import TableSpec
from harness.report.pages.content import Paper, Report
from harness.report.runs import RunDetail
from harness.report.tables.build import Evidence, build_table
from harness.results.schema import ResultFile
from tests.harness.report.conftest import NO_STUDIES
from tests.harness.report.shown import show_paper

RECORDED = Path(__file__).parent / "recorded"


def test_the_page_says_what_was_worked_out_by_hand(recorded_scores: list[ResultFile]) -> None:
    """SimCSE on SICK-R is 62.00 ± 3.46 against 55."""
    evidence = Evidence(recorded_scores, load_published(RECORDED / "published"), NO_STUDIES)
    table = build_table(read_declaration(RECORDED / "table.yaml", TableSpec), evidence)
    runs = {one.run.key: RunDetail(one) for one in recorded_scores}
    text = show_paper(
        Report("Recorded", "0" * 40, runs=runs), Paper("toy", "A toy paper", "nowhere", (table,))
    )
    cells = re.findall(r"""<td id="([^"]*)"[^>]*><[^>]* data-facts='([^']*)'""", text)
    facts = {anchor: dict(json.loads(html.unescape(found))) for anchor, found in cells}
    assert len(facts) == 16
    sick = facts["toy-table1--simcse--sickr"]
    assert sick["Ours"] == "62.00 ± 3.46, n = 3 seeds"
    assert (sick["Published"], sick["Difference"]) == ("55.00", "+7.00")
    assert sick["Verdict"] == "inconclusive: 17 more seeds advised"
    assert sick["Each seed"] == "1: 60.00, 2: 60.00, 3: 66.00"
    assert facts["toy-table1--simcse--avg"]["Verdict"] == "inconclusive: 17 more seeds advised"
    assert facts["toy-table1--simcse--avg"]["Next look"].startswith(
        "20 seeds in all, 17 more (chance of a verdict "
    )
    assert facts["toy-table1--whitening--stsb"]["Difference"] == "−2.00"
    assert facts["toy-table1--pcl--sts12"]["Published"] == "75.00"
    assert facts["toy-table1--pcl--sts12"]["Ours"] == "not run"
