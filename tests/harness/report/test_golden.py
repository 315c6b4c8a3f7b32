"""The recorded score folder as HTML, byte for byte, and its numbers against those worked out by hand."""

from __future__ import annotations

import html
import json
import re

from tests.harness.report.golden import GOLDEN, render_recorded


def facts_of(text: str) -> dict[str, dict[str, str]]:
    """Returns what each cell says of itself, by the cell's id."""
    cells = re.findall(r"""<td id="([^"]*)"[^>]*><[^>]* data-facts='([^']*)'""", text)
    return {anchor: dict(json.loads(html.unescape(facts))) for anchor, facts in cells}


def test_the_recorded_folder_renders_to_the_golden_page() -> None:
    assert render_recorded() == GOLDEN.read_text(encoding="utf-8")


def test_the_golden_page_says_what_was_worked_out_by_hand() -> None:
    """The arithmetic appears in test_renderers.py: SimCSE on SICK-R is 62.00 ± 3.46 against 55."""
    facts = facts_of(GOLDEN.read_text(encoding="utf-8"))
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
