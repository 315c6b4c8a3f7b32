"""Views of comparisons, claims, answers, protocols and trials show each value where it belongs, and every
template has a view."""

import posixpath
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jinja2
import pytest

from harness.report.formats.summary import text_files
from harness.report.formats.templates import TEMPLATES, make_environment
from harness.report.formats.trial import FOOT
from harness.report.pages import render
from harness.report.pages.content import Site
from harness.report.pages.first_screen import GAIN, SPREAD
from tests.harness.report.comparison_views import (
    alone_on_its_page,
    answers_on_the_overview,
    claims_on_the_page,
    comparison_page,
    differences_picture,
    marks_of_a_gain,
    model_meta,
    protocols_on_their_page,
    trial_page,
)
from tests.harness.report.distinct_model import REPORT, TABLE
from tests.harness.report.shown import ParsedPage
from tests.harness.report.test_views import VIEWS as OTHER_VIEWS

ROWS = [
    ["task", "one@b", "two@b", "difference", "interval", ""],
    ["STSB", "72.00 ± 2.83", "66.00 ± 1.41", "+6.00", "+5.78 to +6.22", "won"],
    ["SICKR", "61.00 ± 1.41", "54.00 ± 1.41", "+7.00", "–", "inconclusive"],
    ["Mean", "66.50 ± 2.12", "60.00 ± 0.00", "+6.50", "+6.05 to +6.95", "won"],
    ["rank", "system", "mean", "seeds", "possible ranks"],
    ["1", "two@b", "61.00", "8", "1 to 2"],
]
"""Student's t(0.975, 10) = 2.228 times the errors of 0.1 and 0.2 points."""
WORTH = [
    ["STS-B dev", "score", "seeds", ""],
    ["one@b", "82.00 ± 1.41", "2", ""],
    ["a control", "42.00", "1", "below every seed"],
]
VIEWS: dict[str, tuple[Callable[[], Any], Any]] = {
    "comparison": (comparison_page, {
        "lede": "a conclusion",
        "claims": "plan a plan are compared here; for what the papers claim, see Claims of TOY .",
        "links": [("../papers/toy.html#claims", "TOY")],
        "rows": [["System", "Won – lost", "Mean", "STS", "SICK"],
                 ["m/ two cradle", "1 – 0 – 1 – 0", "+6.50 +6.05 to +6.95", "+6.00 +5.78 to +6.22", "+7.00"]],
        "caption": "m/one@backbone minus each Spearman, accuracy or MAP × 100",
        "choices": [("one@b", " selected", "m/one@backbone"), ("two@b", "", "m/two@cradle"),
                    ("one@b", "", "m/one@backbone"), ("two@b", "", "m/two@cradle")],
        "data": '{"a": [1, 2]}',
        "written": [7200, 6600, 600, 578, 622, 2, 3, 0],
    }),
    "differences": (differences_picture, [
        {"name": "STSB", "kind": "won", "value": pytest.approx(6), "says": "72.00 and 66.00, won",
         "low": pytest.approx(5.777, abs=1e-3), "high": pytest.approx(6.223, abs=1e-3)},
        {"name": "SICKR", "kind": "inconclusive", "value": pytest.approx(7),
         "says": "61.00 and 54.00, inconclusive"},
        {"name": "Mean", "kind": "won", "value": pytest.approx(6.5), "says": "66.50 and 60.00, won",
         "low": pytest.approx(6.054, abs=1e-3), "high": pytest.approx(6.946, abs=1e-3)},
    ]),
    "trial": (trial_page, {
        "title": [("", "one@b · sentbench"), ("one@b", ""), ("", "72.00 and 66.00, won"),
                  ("", "61.00 and 54.00, inconclusive"), ("", "66.50 and 60.00, won")],
        "lede": "a-file.py, trained in the setting of a setting: some settings. Small-s",
        "rows": [*ROWS, *WORTH],
        "laws": ["a law"],
        "drawn": [("wide", "wide"), ("middle", "middle"), ("narrow", "narrow")],
        "terminal": [*(" ".join(filter(None, row)) for row in ROWS[:4]),
                     "one@b: 1 won, 0 lost, 1 inconclusive, 0 equal of 2 test sets",
                     "a true difference of 0.6 points of the mean is found in 8 of 10 cases",
                     *(" ".join(row) for row in ROWS[4:]),
                     "* one@b, the method tried; possible ranks: those that the seeds leave open", FOOT,
                     "a note",
                     *(" ".join(filter(None, row)) for row in WORTH),
                     "one@b beats its controls; won against two@b"],
    }),
    "claims": (claims_on_the_page, {
        "rows": [["Claim", "Verdict", "Reported", "Ours", "Interval", "Seeds", "Where"],
                 ["a claim a section; a note", "supported", "+2.50", "+1.50", "+0.50 to +2.25", "3 and 4",
                  "toy/table1, first-key: Row title (A group) and Other title (B group)"]],
        "links": [("a-link", "Row title (A group)"), ("b-link", "Other title (B group)")],
        "tally": "1 supported",
    }),
    "answers": (answers_on_the_overview, {
        "rows": [["Number", "Reported", "Verdict", "Evidence and protocol", "To settle it"],
                 ["a name", "reported 74.56", "↓ does not replicate (lower)",
                  "what is known cite 71.89 (95 % interval 68.17 to 75.61), mean of 3 runs of this project "
                  "evidence table and protocol", "what it costs"]],
        "links": ["pages/evidence.html#b", "papers/toy.html#a"],
        "id": ["answer-a-name"],
        "shared": [("", "a shared sentence"), ("a shared sentence", "")],
        "telling": "a telling one",
        "figure": "it says a caption Link to this picture SVG CSV",
    }),
    "gain": (marks_of_a_gain, [
        ("reported", None, None, "no independent run found; claims +1.25 over another system"),
        (GAIN, -1.25, 0.0, None), (SPREAD, -3.88, -3.52, None),
    ]),
    "protocols": (protocols_on_their_page, [
        ["System", "a group", "b group", "Range"],
        ["all pairs", "mean", "weighted mean", "all pairs", "mean", "weighted mean", "4,927", "9,927"],
        ["an-id a-method · a-variant · a-backbone", *(f"{60 + n}.00 ±0.{n}0" for n in range(1, 9)), "2.00"],
        ["Pooling", "STS-B"], ["cls", "50.50"], ["mean", "51.50 ±0.50"],
    ]),
    "declaration of a model": (model_meta, [
        "the_variable = ModelMeta(", "name=the_literal,", "n_parameters=the_parameters,",
        "memory_usage_mb=the_memory,", "max_tokens=the_tokens,", "embed_dim=the_width,",
        "license=the_licence,",
        'reference="https://huggingface.co/the_name",', "adapted_from=the_base,",
    ]),
    "paper without a recipe": (alone_on_its_page, [
        "Our runs test 0 of the 3 different scores that the paper reports for its own method. No recipe runs "
        "them.",
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_a_comparison_shows_each_value_where_it_belongs(name: str) -> None:
    view, expected = VIEWS[name]
    assert view() == expected


def test_every_template_has_a_view(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = set()
    read = jinja2.FileSystemLoader.get_source

    def recorded(loader: jinja2.FileSystemLoader, environment: jinja2.Environment, template: str) -> Any:
        asked.add(template)
        return read(loader, environment, template)

    monkeypatch.setattr(jinja2.FileSystemLoader, "get_source", recorded)
    make_environment.cache_clear()
    render._environment.cache_clear()
    for view, _ in (*OTHER_VIEWS.values(), *VIEWS.values()):
        view()
    assert {path.name for path in TEMPLATES.glob("*.j2")} == asked


def test_a_copy_of_the_folder_is_whole() -> None:
    """Every address on a page that is not public leads to a file of the report, and to an id that it has."""
    report = replace(
        REPORT, tables=(replace(TABLE, key="small"),), site=Site(documentation="https://x.org/d")
    )
    files = {**render.render_pages(report), **text_files(report.all_tables, [])}
    pages = {name: ParsedPage(text) for name, text in files.items() if name.endswith(".html")}
    assert len(pages) >= 5
    for name, page in pages.items():
        for address in (*page.all("href"), *page.all("src")):
            if address.startswith(("https://", "data:")):
                continue
            path, _, anchor = address.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            assert target in files, f"{name}: {address}"
            assert not anchor or anchor in pages[target].all("id"), f"{name}: {address}"
