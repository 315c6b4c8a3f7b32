"""Views of comparisons, claims, answers, protocols and trials, made from distinct values, in parts."""

import re
from dataclasses import replace
from typing import Any

from harness.evidence.comparisons import Pair
from harness.evidence.differences import Difference
from harness.evidence.statistics import StandardError, WelchComparison
from harness.evidence.system_pairs import SystemComparison, SystemScores, TaskName
from harness.report.chart import Chart
from harness.report.formats.templates import fill
from harness.report.formats.trial import Ranked, Trial, Worth, trial_text
from harness.report.pages import compare, index
from harness.report.pages.answers import Answer, Gain
from harness.report.pages.claims import Claim, ClaimedRows, JudgedClaim, JudgedPair
from harness.report.pages.first_screen import marks_of
from harness.report.pages.protocols import PROTOCOLS, ProtocolRow, Reading
from harness.report.pages.render import render_trial
from harness.report.pages.small import pages, small_values
from tests.harness.report.distinct_model import ALONE, OURS, PAPERS, REPORT, RUNS, TABLE
from tests.harness.report.made_judged import with_verdict
from tests.harness.report.shown import show, show_paper
from tests.harness.report.views_of_model import part, plain, rows_in

STS, SICK = (TaskName(task, "spearman", "all", "senteval") for task in ("STSB", "SICKR"))
FIRST = SystemScores("one@b", "m/one@backbone", False, {STS: {0: 0.70, 1: 0.74}, SICK: {0: 0.60, 1: 0.62}})
SECOND = SystemScores("two@b", "m/two@cradle", False, {STS: {0: 0.65, 1: 0.67}, SICK: {0: 0.55, 1: 0.53}})
ON_STS = Difference(0.72, 0.66, (2, 3), StandardError(0.001, 10))
ON_SICK = Difference(0.61, 0.54, (4, 5), None)
ON_BOTH = Difference(0.665, 0.6, (6, 7), StandardError(0.002, 10))
BOTH = SystemComparison("one@b", "two@b", {STS: ON_STS, SICK: ON_SICK}, ON_BOTH)
GAIN = Gain("another system", 1.25, (70.1, 70.2, 70.3, 70.4, 70.5))
ANSWER = Answer(
    OURS, "a name", "papers/toy.html#a", "pages/evidence.html#b", "what is known", "what it costs", gain=GAIN
)
CLAIM = Claim(says="a claim", source="a section", table="toy/table1", columns=["first-key"],
              rows=[ClaimedRows(better="row-key", worse=["other-key"])], note="a note")  # fmt: skip


def comparison_page() -> dict[str, Any]:
    values = {
        "best": FIRST, "claiming": PAPERS[:1], "conclusion": "a conclusion",
        "tasks": {STS: "STS", SICK: "SICK"},
        "rows": [(SECOND, BOTH)], "systems": {"one@b": FIRST, "two@b": SECOND}, "outcomes": ("won", "lost"),
        "comparisons": {"a": [1, 2]},
    }  # fmt: skip
    text = show(compare.PAGE, REPORT, values)
    return {
        "lede": part(text, '<p class="lede">', "</p>"),
        "claims": plain(part(text, "<p>Only systems of ", "</p>")),
        "links": re.findall(r'<a href="([^"]+#claims)">([^<]+)', text),
        "rows": rows_in(part(text, 'id="caption-best"', "</table>")),
        "caption": plain(part(text, 'id="caption-best">', "</caption>")),
        "choices": re.findall(r'<option value="([^"]+)"( selected)?>([^<]+)', text),
        "data": part(text, 'id="compare-data">', "</script>"),
        "written": compare.written(ON_STS),
    }


def differences_picture() -> list[dict[str, Any]]:
    return [dict(row) for row in compare.differences_of(BOTH).rows]


def trial_page() -> dict[str, Any]:
    trial = Trial(
        "a-file.py", {"one@b": FIRST, "two@b": SECOND}, [BOTH], [Ranked("two@b", 0.61, 8, (1, 2))],
        "some settings", ["a note"], Worth([0.81, 0.83], {"a control": 0.42}),
    )  # fmt: skip
    text = render_trial(trial, setting="a setting", laws=["a law"])
    drawn = re.findall(r'class="drawing (\w+)"><svg[^>]*aria-labelledby="differences-(\w+)-', text)
    return {
        "title": re.findall(r"<h1>([^<]+)|<title>([^<]+)", text),
        "lede": plain(part(text, '<p class="lede">', "</p>"))[:70],
        "rows": rows_in(part(text, "<h2>Comparisons</h2>", "</main>")),
        "laws": re.findall("<li>([^<]+)", text),
        "drawn": drawn,
        "terminal": [" ".join(line.split()) for line in trial_text(trial).splitlines() if line.strip()],
    }


def claims_on_the_page() -> dict[str, Any]:
    pair = JudgedPair(
        TABLE.rows[0], TABLE.rows[1], ("first-key", "first-key"), ("a-link", "b-link"), (3, 4),
        Pair((1.0,), (2.0,), 0.0), 2.5, "", (), WelchComparison(1.5, 0.5, 2.25, 0.01), "supported",
    )  # fmt: skip
    claims = [JudgedClaim(CLAIM, (pair,), replace(TABLE, scale=100.0, decimals=2))]
    from harness.report.pages import paper

    page = paper.pages(replace(REPORT, papers=PAPERS[:1]))[0]
    values = dict(page.build(REPORT) or {})
    text = show(page, REPORT, {**values, "claims": claims, "outcomes": {"supported": 1}})
    section = part(text, 'id="claims"', "</section>")
    return {
        "rows": rows_in(section),
        "links": re.findall('<a href="#([^"]+)">([^<]+)', section)[:2],
        "tally": plain(part(section, '<p class="tally">', "</p>")),
    }


def answers_on_the_overview() -> dict[str, Any]:
    values = dict(index.index_values(REPORT))
    forest = Chart(
        "numbers", "a title", "a caption", "it says", ({"a": 1},), ("<wide/>", "<middle/>", "<phone/>")
    )
    shown = {
        "answers": [ANSWER],
        "forest": forest,
        "shared": ["a shared sentence"],
        "telling": ["a telling one"],
    }
    text = show(index.PAGE, REPORT, {**values, **shown})
    return {
        "rows": rows_in(part(text, 'id="answered"', "</section>")),
        "links": re.findall(r'<a href="([^"]+)">(?:evidence|table and protocol)', text),
        "id": re.findall(r'<tr id="(answer-[^"]+)"', text),
        "shared": re.findall(r'<p class="shared">([^<]+)|name="description" content="([^"]+)', text),
        "telling": part(text, '<ul class="telling"><li>', "</li>"),
        "figure": plain(part(text, '<figure class="chart" id="figure-numbers">', "</figure>")),
    }


def marks_of_a_gain() -> list[tuple[Any, ...]]:
    answer = replace(ANSWER, judged=with_verdict(74.0, "authors"))
    return [(row["kind"], row.get("low"), row.get("high"), row.get("basis")) for row in marks_of(answer)]


def protocols_on_their_page() -> list[list[str]]:
    readings = {
        protocol.key: Reading(60.0 + place, place / 10) for place, protocol in enumerate(PROTOCOLS, start=1)
    }
    row = ProtocolRow(RUNS["r-seven"].about, readings)
    groups = {"a group": 6, "b group": 2}
    poolings = {"a-backbone": {"cls": {"STSB": Reading(50.5, None)}, "mean": {"STSB": Reading(51.5, 0.5)}}}
    values = {"rows": [row], "columns": list(PROTOCOLS), "groups": groups, "poolings": poolings}
    text = show(pages(REPORT)[0], REPORT, {**(small_values(REPORT) or {}), **values})
    return rows_in(part(text, 'id="protocols"', "</section>"))


def model_meta() -> list[str]:
    names = ("variable", "literal", "parameters", "memory", "tokens", "width", "licence", "base", "name")
    text = fill("model_meta.py.j2", {name: f"the_{name}" for name in names})
    return [line.strip() for line in text.splitlines() if "the_" in line]


def alone_on_its_page() -> list[str]:
    """A page of a paper without a recipe advises no plan."""
    text = show_paper(
        REPORT,
        replace(
            PAPERS[1],
            tables=(
                replace(
                    ALONE,
                    rows=(
                        *(
                            replace(
                                row,
                                is_own=True,
                                cells=tuple(replace(cell, wanted=False) for cell in row.cells),
                            )
                            for row in ALONE.rows
                        ),
                    ),
                ),
            ),
        ),
    )
    return [plain(part(text, '<p class="after-head">', "</p>")), *re.findall("sentbench plan[^<]*", text)]
