"""Self-contained HTML pages: one file each, no request to anywhere, readable without its script."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import InputError
from harness.report.charts.palette import css_variables
from harness.report.formats.text import TEMPLATES, describe_seeds
from harness.report.pages.audit import MethodAudit, measure
from harness.report.pages.claims import JudgedClaim
from harness.report.pages.facts import CellView, has_published, has_spread, signed, verdict_counts, view_cell
from harness.report.pages.ladder import MeasuredLadder
from harness.report.pages.lens import PROTOCOLS, Lens
from harness.report.pages.page import Paper, Report, slug
from harness.report.pages.speed import Measurements, plain
from harness.report.tables.model import Cell, Column, Table, TableRow

if TYPE_CHECKING:
    from jinja2 import Environment

TALL = 16
"""The most rows of a table that is shown at full height; a longer one scrolls under its header."""


def render_index(report: Report, templates: Path = TEMPLATES) -> str:
    """Returns the report's main page: what this is, leaderboards, figures, links to papers, runs, rebuilding.

    Errors: InputError if a template is missing or wrong, two sections claim one key, or a row does not have
    one cell a column.
    """
    return _render("index.html.j2", templates, _complete(report, report.tables), here="index.html")


def render_paper(
    report: Report, paper: Paper, templates: Path = TEMPLATES, *, index: str = "index.html"
) -> str:
    """Returns the page of one paper; `index` is the address of the main page as seen from it.

    Only the runs that the paper's cells name are on it. Errors: as `render_index`.
    """
    named = {key for table in paper.tables for row in table.rows for cell in row.cells for key in cell.runs}
    own = replace(report, runs={key: run for key, run in report.runs.items() if key in named})
    whole = _complete(own, paper.tables)
    return _render("paper.html.j2", templates, whole, here=paper.page, index=index, paper=paper)


def render_claims(
    report: Report,
    ledger: Mapping[str, Sequence[JudgedClaim]],
    templates: Path = TEMPLATES,
    *,
    index: str = "index.html",
) -> str:
    """Returns the claims ledger: `ledger` holds the judged claims by the paper's title.

    Errors: InputError if a template is missing or wrong.
    """
    findings = Counter(judged.finding for claims in ledger.values() for judged in claims)
    bare = replace(report, runs={}, tables=(), papers=())
    values = {"ledger": ledger, "findings": findings}
    return _render("claims.html.j2", templates, bare, here="claims.html", index=index, **values)


def render_audit(
    report: Report, audits: Sequence[MethodAudit], templates: Path = TEMPLATES, *, index: str = "index.html"
) -> str:
    """Returns the page of differences between papers and code, with the effects that the runs measure.

    Errors: InputError if a template is missing or wrong.
    """
    bare = replace(report, runs={}, tables=(), papers=())
    effects = partial(measure, runs=list(report.runs.values()))
    values = {"audits": audits, "measure": effects}
    return _render("audit.html.j2", templates, bare, here="audit.html", index=index, **values)


def render_lens(report: Report, lens: Lens, templates: Path = TEMPLATES, *, index: str = "index.html") -> str:
    """Returns the page of encoders under every protocol. Errors: InputError if a template is wrong."""
    bare = replace(report, runs={}, tables=(), papers=())
    values = {"lens": lens, "protocols": PROTOCOLS}
    return _render("lens.html.j2", templates, bare, here="lens.html", index=index, **values)


def render_ladders(
    report: Report,
    ladders: Sequence[MeasuredLadder],
    templates: Path = TEMPLATES,
    *,
    index: str = "index.html",
) -> str:
    """Returns the page of the gap ladders. Errors: InputError if a template is wrong."""
    bare = replace(report, runs={}, tables=(), papers=())
    return _render("ladder.html.j2", templates, bare, here="ladder.html", index=index, ladders=ladders)


def render_benchmarks(
    report: Report, measured: Measurements, templates: Path = TEMPLATES, *, index: str = "index.html"
) -> str:
    """Returns the page of what the work costs here and by the tools a user would otherwise run.

    Errors: InputError if a template is missing or wrong.
    """
    bare = replace(report, runs={}, tables=(), papers=())
    values = {"measured": measured, "plain": plain}
    return _render("benchmarks.html.j2", templates, bare, here="benchmarks.html", index=index, **values)


def _complete(report: Report, tables: tuple[Table, ...]) -> Report:
    """Checks the tables and returns the report with runs that nobody recorded among its problems."""
    keys = [table.key for table in tables]
    repeated = sorted({key for key in keys if keys.count(key) > 1})
    if repeated:
        raise InputError(
            f"table {repeated[0]!r} is on the page twice, expected once; give it a key of its own"
        )
    for table in tables:
        for row in table.rows:
            if len(row.cells) != len(table.columns):
                raise InputError(
                    f"table {table.key!r}, row {row.key!r}: {len(row.cells)} cells, "
                    f"expected {len(table.columns)}, one a column; build the table again"
                )
    lost = [
        f"Run {key} fills a cell but has no record; evaluate it again." for key in report.unrecorded(tables)
    ]
    return replace(report, problems=(*report.problems, *lost))


def _render(
    name: str, templates: Path, report: Report, *, here: str, index: str = "index.html", **values: Any
) -> str:
    """Returns a filled template; `here` is the page's address as seen from the main page at `index`."""
    import jinja2

    places = {"here": here, "index": index, "root": index.removesuffix("index.html")}
    try:
        page = _environment(templates, report).get_template(name).render(report=report, **places, **values)
    except (jinja2.TemplateError, FileNotFoundError) as error:
        fault = str(error) or type(error).__name__
        raise InputError(f"template {templates / name}: {fault}; restore it from the repository") from None
    return re.sub(r"\n\s*\n+", "\n", page)


def _environment(templates: Path, report: Report) -> Environment:
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    functions: Mapping[str, Callable[..., Any]] = {
        "view": lambda table, row, column, cell: _view(report, table, row, column, cell),
        "has_published": has_published,
        "has_spread": has_spread,
        "describe_seeds": describe_seeds,
        "verdict_counts": verdict_counts,
        "is_tall": lambda table: len(table.rows) > TALL,
        "grouped": _grouped,
    }
    environment.globals.update(functions)
    environment.globals["style"] = Markup(
        _inlined(templates / "report.css").replace("/*palette*/", css_variables())
    )
    environment.globals["script"] = Markup(_inlined(templates / "report.js"))
    environment.filters["signed"] = signed
    environment.filters["seconds"] = _duration
    environment.filters["slug"] = slug
    environment.filters["groupby_order"] = lambda values, name: [
        (key, list(found)) for key, found in groupby(values, key=attrgetter(name))
    ]
    return environment


def _inlined(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _view(report: Report, table: Table, row: TableRow, column: Column, cell: Cell) -> CellView:
    return view_cell(table, row, column, cell, report.runs)


def _grouped(table: Table) -> list[tuple[str, list[TableRow]]]:
    """Returns the rows in stretches of one group, in their order."""
    stretches: list[tuple[str, list[TableRow]]] = []
    for row in table.rows:
        if not stretches or stretches[-1][0] != row.group:
            stretches.append((row.group, []))
        stretches[-1][1].append(row)
    return stretches


def _duration(seconds: float | None) -> str:
    """Returns a wall time in the unit that suits it; a dash if it is not known."""
    if seconds is None:
        return "–"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
