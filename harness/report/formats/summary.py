"""The report without HTML: every table in each text form, and one Markdown page that leads to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from harness.disk.layouts import KEPT_TABLES
from harness.report.formats.latex import to_latex
from harness.report.formats.markdown import escape, to_markdown
from harness.report.formats.records import to_csv, to_json
from harness.report.formats.text import to_terminal
from harness.report.tables.leaderboard import STS
from harness.report.tables.model import Table

ALL_RESULTS = "tables/results.csv"
"""Every cell of every table, as seen from the report's folder."""


def text_files(
    tables: Mapping[str, Table], problems: Iterable[str], *, notes: Iterable[str] = ()
) -> dict[str, str]:
    """Returns index.md, every table in each form, and all of them as one CSV, by path below the report.

    notes: what a reader must know before the numbers.
    """
    files = {"index.md": to_summary(tables, problems, notes=notes)}
    for table in tables.values():
        path = path_of(table)
        files[f"{path}.md"] = to_markdown(table)
        files[f"{path}.tex"] = to_latex(table)
        files[f"{path}.txt"] = to_terminal(table)
        files[f"{path}.csv"] = to_csv([table])
        files[f"{path}.json"] = to_json(table)
    return {**files, ALL_RESULTS: to_csv(tables.values())}


def path_of(table: Table) -> str:
    """Returns where a table is below the report, without the ending; of a name of one's own as own-NAME."""
    name = table.key.replace("/", "-")
    known = any(fnmatchcase(name, pattern) for pattern in KEPT_TABLES)
    return f"tables/{name if known else f'own-{name}'}"


def to_summary(tables: Mapping[str, Table], problems: Iterable[str], *, notes: Iterable[str] = ()) -> str:
    """Returns the report as one Markdown page: the STS scores of the runs, the other tables as links."""
    lines = ["# sentbench", "", *notes, ""]
    for key in STS:
        if key in tables:
            lines += [to_markdown(tables[key]), ""]
    lines += ["## Tables and figures of the papers", ""]
    for key, table in tables.items():
        if key not in STS:
            lines.append(f"* [{escape(table.title)}]({path_of(table)}.md)")
    lines += ["", *(f"* {escape(problem)}" for problem in problems)]
    return "\n".join(lines).rstrip() + "\n"
