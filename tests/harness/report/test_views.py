"""Each view of a model in which every field has its own value shows each value where it belongs."""

import json
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

from harness.report.bibtex import paper_entry, report_entry
from harness.report.formats.summary import flat_metrics
from harness.report.pages.search import search_file
from harness.report.pages.strips import strip_of
from harness.report.sentences import ASSUMED
from harness.report.tables.rows import FALSE_DISCOVERY
from tests.harness.report.distinct_model import CELL, CHART, PAPERS, PUBLISHED, REPORT, RUNS, TABLE
from tests.harness.report.views_of_model import (
    audit_on_its_page,
    card,
    evidence_on_its_page,
    head_of_the_paper,
    losses,
    papers_on_the_overview,
    picture,
    records,
    rest_of_the_overview,
    runs_on_their_page,
    strip_on_the_page,
    table_on_the_page,
    text_forms,
)

VERDICT = "does not replicate (lower)"
SYSTEM = "a-method · a-variant · a-backbone"
RECORD = {
    "table": "toy/table1", "row": "row-key", "title": "Row title", "group": "A group", "column": "first-key",
    "mark": "a mark", "unit": "a unit × 1", "ours": 0.7189, "sd": 0.0149, "n": 3, "published": 0.7456,
    "delta": -0.0267, "verdict": VERDICT, "runs": "r-seven r-three r-nine",
    "seeds_values": [0.7311, 0.7022, 0.7234], "note": "a note of the cell",
}  # fmt: skip
LEGEND = "our mean is lower by more than 0.5 points, and the number is outside the range of its kind"

WEEKEND = "sentbench plan a-recipe/one a-recipe/two --backbone bert-base-uncased --seeds 17"

VIEWS: dict[str, tuple[Callable[[], Any], Any]] = {
    "papers": (papers_on_the_overview, [
        ("A toy", "A venue 2020. 1 table and figures next to ours.",
         f"↓ {VERDICT}: 1 no independent result: 1", "paper-toy", "papers/toy.html"),
        ("A solo", "B venue 2021. 2 tables and figures next to ours.", "‡ authors only: 3",
         "paper-solo", "papers/solo.html"),
    ]),
    "overview": (rest_of_the_overview, {
        "weekend": [["System", "Seeds", "Chance of a verdict", "GPU hours", "Disk"],
                    ["a-recipe/one", "1", "100 %", "< 0.1", "2.00 GB"],
                    ["a-recipe/two", "17", "22 %, 82 %", "12.5", "30.50 GB"]],
        "gpu": [("12.5", "a GPU", "33.25", "3 reported averages", "2.0", "https://example.org/gpu")],
        "commands": [f"{WEEKEND} --dry-run", WEEKEND, "sentbench data fetch", "sentbench launch",
                     "sentbench report"],
        "runs": "1 system, 3 runs of plan a plan : tables, pictures and the record of every run , with its "
                "seed, its dev scores, the selected step and the hashes of its code and encoder. a note of "
                "the report",
        "digests": "a digest ; of the code that wrote this page: a code",
        "problem": "a problem",
        "head": [("a title of the report", "", ""), ("", "a title of the report", ""),
                 ("", "", "a title of the report")],
        "foot": [("https://example.org/repository", "repository"),
                 ("https://example.org/documents/glossary.html", "glossary")],
    }),
    "paper": (head_of_the_paper, {
        "title": ["A toy"],
        "lede": "A venue 2020, paper , authors' code . 2 different",
        "links": [("https://example.org/paper", "paper"), ("https://example.org/code", "authors' code")],
        "notes": "a note of the paper",
        "cite": "@misc{toy}",
        "own": "Our runs test 1 of the 1 different scores that the paper reports for its own method. "
               "sentbench plan toy --dry-run shows the cost of running them.",
        "log": [[SYSTEM, f"commit {place}c0ffee000", "a-device", seed, f"1 {VERDICT}"]
                for place, seed in ((1, "7"), (2, "3"), (3, "9"))],
    }),
    "table": (table_on_the_page, {
        "caption": "Toy table 1: a title a unit × 1",
        "rows": [["System", "Second title", "First title a mark", "Third title"],
                 ["A group"],
                 ["Row title a source", "0.500",
                  f"† 0.719 ±0.015 n=3 ↓ {VERDICT} published 0.746 −0.027", "3"],
                 ["B group"],
                 ["Other title b source", "0.510", "0.612", "4"]],
        "columns": ["second-key", "first-key", "third-key"],
        "row": [("row", "row-key"), ("backbone", "a-backbone"), ("runs", "|r-seven r-three r-nine")],
        "cells": [("toy-table1--row-title--second-key", "0.5001"),
                  ("toy-table1--row-title--first-key", "0.7189"),
                  ("toy-table1--row-title--third-key", "")],
        "best": [("ours", "0.719"), ("published", "0.746")],
        "facts": [["Ours", "0.719 ± 0.015, n = 3 seeds"], ["Published", "0.746"], ["Difference", "−0.027"],
                  ["Verdict", VERDICT],
                  ["Cite", "71.89 (95 % interval 68.17 to 75.61), mean of 3 runs of this project"],
                  ["From", "this project; the report names its runs"],
                  ["Rank", "2 to 5; bold, as no competing row is shown to be better"],
                  ["No verdict from our runs", "a reason"],
                  ["Level", "our mean is 2.67 lower (-2.67)"],
                  ["Draw", "outside the range of single runs"],
                  ["Others", "75.31, median of 2 sources"],
                  ["Its authors", "74.16, result of 1 source"], ["Assumes", ASSUMED],
                  ["Each seed", "7: 0.731, 3: 0.702, 9: 0.723"], ["Best on dev", "0.723"],
                  ["Column", "a mark"], ["Note", "a note of the cell"]],
        "remarks": "a note of the table Row title (A group) : a note of the row",
        "protocol": [FALSE_DISCOVERY.replace("5 %", "5%"),
                     "Ours: mean ± standard deviation over n = 0 to 3 seeds. a protocol",
                     "To run it: sentbench plan toy/table1 && sentbench launch"],
    }),
    "strip": (strip_on_the_page, [
        ("line", "M-30 0H30"), ("others wide-mark", "M-7.5 0H12.0"), ("others", "M11.2-4V4"),
        ("authors", "M-9.0-3l3 5h-6z"), ("authors", "M-3.0-3l3 5h-6z"),
        ("mine", "M-30.0 0m-2.5-2.5l5 5m-5 0l5-5"), ("said", "M0-3l3 3-3 3-3-3z"),
    ]),
    "runs": (runs_on_their_page, {
        "summary": f"{SYSTEM} 3 seeds",
        "rows": [["Run", "Seed", "Best dev", "at step", "Last dev", "Untrained", "Code", "Encoder"],
                 *([f"r-{name}", seed, f"81.{n}0", f"10{n}", f"71.{n}0", f"61.{n}0",
                    f"commit {n}c0ffee000", f"{n}e1c0de000000000"]
                   for name, seed, n in (("three", "3", 2), ("seven", "7", 1), ("nine", "9", 3)))],
        "versions": ["All runs: device a-device, precision bf16.",
                     "To repeat a run: dvc repro evaluate@RUN . Data: some-data da7a000000000000 . The "
                     "records in reports/scores have the full hashes. Versions: a-library 1.2.3."],
    }),
    "evidence": (evidence_on_its_page, {
        "lede": "a conclusion",
        "description": "a conclusion",
        "summary": "A system a @b ○? 74.56 in Avg: not settled 1 independent source",
        "rows": [["Source", "Kind", "Avg", "STS12"],
                 ["an-owner/a-repository a file", "a kind: a difference; SICK-R of 9,927 pairs, so SICK-R "
                  "and the average are not counted", "70.50", "61.00 (2 runs, 60.50 to 61.50)"]],
        "link": ["https://github.com/an-owner/a-repository"],
    }),
    "audit": (audit_on_its_page, [
        ["No.", "Difference", "Paper", "Released code", "Here", "Effect"],
        ["1", "a topic switch a.switch: a | b", "in the paper", "in the code", "here",
         "an effect not run: a-variant measured against another proved by test_ a"],
    ]),
    "card": (card, {
        "head": ["---", "the header", "---", "# the name", ""],
        "about": "a-method (variant `a-variant`) on `a-backbone`, trained by sentbench with 3 seeds",
        "scores": ["| STSB | spearman | all | 52.00 | 1.00 | 3 | 52.00, 51.00, 53.00 | 1379 |",
                   "| STS12 | spearman | all | 62.00 | 1.00 | 3 | 62.00, 61.00, 63.00 | 1379 |"],
        "reported": "STSB 77.5.",
        "chosen": "3, the seed with the median development score (81.20)",
        "protocol": ["Pooling: `the pooling`; no training head is kept. Input is not truncated to the "
                     "training length of the max_length tokens.", "Text of the evaluation: raw.",
                     "Selection: the checkpoint best on STS-B dev (Spearman).",
                     "STS: correlation of cosines with gold scores over all pairs of a test set.",
                     "Precision bf16 on a-device; similarities in float64."],
        "settings": ["| a.name | `5` |"],
        "rebuild": ["git checkout the commit", "sentbench plan the plan",
                    "dvc repro evaluate@r-three evaluate@r-seven evaluate@r-nine"],
        "runs": [f"| {seed} | `r-{name}` | 81.{n}0 | 10{n} | `{n}e1c0de000000000000` |"
                 for name, seed, n in (("three", 3, 2), ("seven", 7, 1), ("nine", 9, 3))],
        "foot": ["some-data `da7a000000000000000`.", "Versions: a-library 1.2.3.", "", "## Licence", "",
                 "The weights are derived from `the origin` (the origin_licence). The training sentences are "
                 "`the corpus` (the corpus_licence).", "", "No MTEB result files: the no_mteb.", ""],
    }),
    "text forms": (text_forms, {
        "markdown": [
            "## Toy table 1: a title",
            "| System | n | First title (a mark) | Second title | Third title | Published value from |",
            "| :-- | --: | --: | --: | --: | :-- |",
            "| **A group** | | | | | |",
            "| Row title | 3 | **0.719** ± 0.015 ↓ (0.746) | 0.500 | 3 | a source |",
            "| **B group** | | | | | |", "| Other title |  | (0.612) | 0.510 | 4 | b source |",
            "- a note of the table", "- A group Row title: a note of the row",
            "- A group Row title, First title: a note of the cell",
        ],
        "latex": [
            r"System & $n$ & First title \textit{(a mark)} & Second title & Third title \\",
            r"Row title & 3 & $\mathbf{0.719}_{\pm 0.015}^{\downarrow}$ & $0.500$ & $3$ \\",
            r"\quad published & & $0.746\phantom{{}_{\pm 0.015}^{\downarrow}}$ &  &  \\",
            "% toy/table1: written by `sentbench report`; needs booktabs and graphicx",
            r"\caption{Toy table 1: a title", r"\label{tab:toy-table1}",
            "% runs: r-seven, r-three, r-nine", "% no runs yet",
        ],
        "latex groups": ["A group", "B group"],
        "terminal": [
            "Toy table 1: a title [toy/table1]", "n First title Second title Third title", "(a mark)",
            "A group:",
            "Row title 3 *0.719±0.015 ↓ (0.746) 0.500 3", "B group:", "Other title (0.612) 0.510 4",
            "Ours: mean ± standard deviation over n = 0 to 3 seeds.",
            "* no competing row is shown to be better",
            "a protocol", f"↓ {VERDICT}: {LEGEND}. † cited, not ours", "a note of the table",
            "A group Row title: a note of the row", "A group Row title, First title: a note of the cell",
        ],
        "summary": ["# sentbench", "a note", "## Tables and figures of the papers",
                    "* [Toy table 1: a title](tables/toy-table1.md)", "* a problem\n"],
    }),
    "picture": (picture, {
        "pages/a-key.svg": "<wide/>\n", "pages/a-key.csv": "name,value,low\none,1.5,\ntwo,,2.5\n",
        "caption": "it says a title. a caption",
        "wide": "<wide/>", "middle": "<middle/>", "narrow": "<phone/>",
    }),
    "entry of a paper": (lambda: paper_entry(PUBLISHED).splitlines(), [
        "@misc{toy2020,", "  title = {{A toy}},", "  author = {Ann Other and Bo Third},", "  year = {2020},",
        "  url = {https://example.org/paper},", "  note = {A venue},", "}",
    ]),
    "entry of a report": (lambda: report_entry("1.5", "a digest", "a code").splitlines(), [
        "@misc{sentbench-a digest,",
        "  title = {{sentbench: a reproducibility benchmark for unsupervised sentence embeddings}},",
        "  note = {Report of version 1.5, results a digest, code a code},", "}",
    ]),
    "metrics": (lambda: flat_metrics(RUNS["r-seven"].result), {"STSB": 51.0, "STS12": 61.0, "Mean": 56.0}),
    "search": (lambda: json.loads(search_file(REPORT)[len("searchFound(") : -3]), {
        "places": [["system", f"an-id: {SYSTEM}", "pages/small.html#system-a-method-a-variant-a-backbone"],
                   ["paper", "A toy", "papers/toy.html"], ["paper", "A solo", "papers/solo.html"]],
        "tables": [
            {"kind": "figure", "title": "Toy table 1: a title", "page": "papers/toy.html",
             "id": "table-toy-table1",
             "columns": [["first-key", "First title", False], ["second-key", "Second title", True],
                         ["third-key", "Third title", False]],
             "rows": [["Row title (A group)", "toy-table1--row-title", "0.746", "0.500", "3"],
                      ["Other title (B group)", "toy-table1--other-title", "0.612", "0.510", "4"]]},
            *({"kind": "table", "title": "Solo table 2: other", "page": "papers/solo.html",
               "id": f"table-solo-table{n}", "columns": [["only", "Only", False]],
               "rows": [[f"R{row}", f"solo-table{n}--r{row}", f"{row}.00"] for row in (60, 61, 62)]}
              for n in (2, 3)),
        ],
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_shows_each_value_where_it_belongs(name: str) -> None:
    view, expected = VIEWS[name]
    assert view() == expected


def test_a_record_has_each_value_under_its_name() -> None:
    first = records()[0]
    numbers = {"ours", "sd", "n", "published", "delta"}
    actual: dict[str, Any] = {name: float(text) if name in numbers else text for name, text in first.items()}
    actual["seeds_values"] = [float(text) for text in first["seeds_values"].split()]
    assert actual == {
        name: pytest.approx(value) if isinstance(value, float | list) else value
        for name, value in RECORD.items()
    }
    assert [record["column"] for record in records()] == ["first-key", "second-key"]


def test_a_loss_curve_has_each_value_under_its_name(tmp_path: Path) -> None:
    assert losses(tmp_path) == [{"step": 4, "loss": 0.25, "learning_rate": 0.125}]


LEFT = {
    "Report": {"tables", "own_tables", "leaderboards"},
    "Paper": {"figures", "charts"},
    "Column": {"plain", "average"},
}
"""Fields without a value of their own: tables of other pages, pictures, and flags that other columns have."""


@pytest.mark.parametrize(
    "made", [CELL, TABLE, TABLE.columns[0], TABLE.rows[0], PAPERS[0], REPORT, CHART, strip_of(CELL)]
)
def test_every_field_of_the_model_has_a_value_of_its_own(made: Any) -> None:
    """Otherwise a view that exchanges two fields, or leaves one out, shows the same."""
    values = []
    for field in fields(made):
        if field.name in LEFT.get(type(made).__name__, ()):
            continue
        value = getattr(made, field.name)
        usual = field.default_factory() if field.default_factory is not MISSING else field.default
        assert value != usual, f"{type(made).__name__}.{field.name}"
        values.append(value)
    shown = [repr(value) for value in values if not isinstance(value, bool)]
    assert len(set(shown)) == len(shown)
