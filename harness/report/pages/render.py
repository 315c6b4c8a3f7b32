"""Self-contained HTML pages: one file each, without external requests, readable without scripts."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

import harness.report.pages as room
from harness.evidence.words import WORDS, Verdict, scale
from harness.report.bibtex import report_entry
from harness.report.chart import Chart, css_variables
from harness.report.formats.summary import ALL_RESULTS, path_of
from harness.report.formats.templates import TEMPLATES, fill, make_environment
from harness.report.formats.text import describe_seeds, task_title
from harness.report.formats.trial import (
    FOOT,
    Trial,
    comparison_rows,
    rank_foot,
    rank_lines,
    worth_in_words,
    worth_rows,
)
from harness.report.pages.cells import (
    FactBook,
    anchors_of,
    backbone_of,
    backbones_of,
    cell_facts,
    glyph_of,
    has_published,
    has_sd,
    link_of,
    points_text,
    runs_of_row,
    shown_number,
    signed,
    verdict_counts,
)
from harness.report.pages.compare import differences_of
from harness.report.pages.content import MAIN, Page, Report
from harness.report.pages.paper import plan_command
from harness.report.pages.search import SEARCH, search_file
from harness.report.pages.sources import EVIDENCE, EVIDENCE_KINDS, anchor_of, score_words
from harness.report.pages.strips import REACH, Strip, averages_first, bare_rows, is_bare, row_notes, strip_of
from harness.report.runs import records_of, run_list, slug
from harness.report.sentences import ASSUMED, ASSUMED_ONE, ASSUMED_OTHERS
from harness.report.tables.leaderboard import has_values
from harness.report.tables.model import Table, TableRow, row_label
from harness.report.tables.rows import FALSE_DISCOVERY

STYLES = ("page.css", "tables.css", "parts.css", "narrow.css", "print.css")
"""The style sheets of every page; a later one overrides earlier ones."""
SCRIPTS = ("cells.js", "tables.js", "page.js", "find.js", "search.js")
"""The script of every page, in its parts, which run in this order."""
EXAMPLE = Strip(interval=(-26.0, -12.0), middle=-18.0, authors=(-6.0, 7.0), ours=20.0)
"""The strip of the legend."""


def render_pages(report: Report) -> dict[str, str]:
    """Returns every page of the report, and the data of its pictures, by path relative to the main page.
    Errors: InputError if a template, a declaration or another input is missing or wrong.
    """
    declared: list[Page] = []
    for name in sorted(info.name for info in iter_modules(room.__path__)):
        module = import_module(f"{room.__name__}.{name}")
        if hasattr(module, "PAGE"):
            declared.append(module.PAGE)
        if hasattr(module, "pages"):
            declared += module.pages(report)
    built = [(page, page.build(report)) for page in sorted(declared, key=lambda page: page.order)]
    shown = [(page, values) for page, values in built if values is not None]
    links: dict[str, dict[str, str]] = {}
    for page, _ in shown:
        if page.file != MAIN:
            links.setdefault(page.group or page.title, {})[page.title] = page.file
    files = {SEARCH: search_file(report)}
    for page, values in shown:
        files[page.file] = fill_page(page, report, values, links=links)
        for value in values.values():
            for chart in value if isinstance(value, list) else [value]:
                files |= chart.files if isinstance(chart, Chart) else {}
    return files


def fill_page(
    page: Page,
    report: Report,
    values: Mapping[str, Any],
    *,
    links: Mapping[str, Mapping[str, str]] | None = None,
) -> str:
    """Returns one page; `values` for its template, `links` to the other pages by title, or by menu and title.

    Errors: InputError if its template is missing or wrong.
    """
    around = {
        "report": report,
        "links": links or {},
        "here": page.file,
        "root": page.root,
        "main": MAIN,
        "facts": FactBook(),
    }
    return _filled(page.template, {**around, **values})


def render_trial(trial: Trial, *, setting: str, laws: Sequence[str]) -> str:
    """Returns the page of a trial. setting: the system with its setting. Errors: as `fill_page`."""
    values = {
        "trial": trial,
        "pictures": [differences_of(comparison) for comparison in trial.comparisons],
        "setting": setting,
        "laws": laws,
        "comparisons": [
            (comparison_rows(comparison, trial.systems), comparison.in_words)
            for comparison in trial.comparisons
        ],
        "ranks": rank_lines(trial),
        "foot": FOOT,
        "rank_foot": rank_foot(trial),
        "worth": None if trial.worth is None else worth_rows(trial.worth, trial.own),
        "worth_in_words": None if trial.worth is None else worth_in_words(trial),
    }
    return _filled("trial.html.j2", values)


def _filled(template: str, values: Mapping[str, Any]) -> str:
    return re.sub(r"\n\s*\n+", "\n", fill(template, values, folder=TEMPLATES, environment=_environment))


@cache
def _environment(templates: Path) -> Environment:
    environment = make_environment(templates, autoescape=True)
    style, script = (
        "".join((templates / name).read_text(encoding="utf-8") for name in names)
        for names in (STYLES, SCRIPTS)
    )
    environment.globals.update(
        {
            "anchors_of": anchors_of,
            "averages_first": averages_first,
            "bare_rows": bare_rows,
            "unmeasured": WORDS[Verdict("nobody")].text,
            "row_notes": row_notes,
            "strip_of": strip_of,
            "reach": REACH,
            "example_strip": EXAMPLE,
            "cell_facts": cell_facts,
            "glyph_of": glyph_of,
            "link_of": link_of,
            "points_text": points_text,
            "shown_number": shown_number,
            "backbone_of": backbone_of,
            "backbones_of": backbones_of,
            "command_of": plan_command,
            "describe_seeds": describe_seeds,
            "has_published": has_published,
            "has_sd": has_sd,
            "has_values": has_values,
            "path_of": path_of,
            "report_entry": report_entry,
            "row_label": row_label,
            "records_of": records_of,
            "run_list": run_list,
            "runs_of_row": runs_of_row,
            "score_words": score_words,
            "search_at": SEARCH,
            "task_title": task_title,
            "verdict_counts": verdict_counts,
            "scale": scale,
            "many": FALSE_DISCOVERY,
            "assumed": ASSUMED,
            "assumed_others": ASSUMED_OTHERS,
            "assumed_one": ASSUMED_ONE,
            "evidence_kinds": EVIDENCE_KINDS,
            "grouped": _grouped,
            "evidence_anchor": anchor_of,
            "evidence_at": EVIDENCE,
            "downloads": (("CSV", "csv"), ("LaTeX", "tex"), ("Markdown", "md")),
            "all_results": ALL_RESULTS,
            "version": version("sentbench"),
            "style": Markup(style.replace("/*palette*/", css_variables())),
            "script": Markup(script),
            "compare_script": Markup((templates / "compare.js").read_text(encoding="utf-8")),
        }
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    environment.tests["bare"] = is_bare
    environment.filters["signed"] = signed
    environment.filters["slug"] = slug
    environment.filters["code_spans"] = _code_spans
    environment.filters["breakable"] = _breakable
    return environment


def _grouped(table: Table) -> list[tuple[str, list[tuple[int, TableRow]]]]:
    stretches = groupby(enumerate(table.rows), key=lambda entry: entry[1].group)
    return [(group, list(rows)) for group, rows in stretches]


def _breakable(name: str) -> Markup:
    """Returns a name with possible line breaks after a slash or an underscore, and before an `@`."""
    return Markup(re.sub("(?<=[/_])(?=.)|(?=@)", "<wbr>", str(escape(name))))


def _code_spans(text: str) -> Markup:
    parts = re.split(r"`([^`]+)`", text)  # names at odd positions
    return Markup("").join(
        Markup("<code>{}</code>").format(_breakable(part)) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )
