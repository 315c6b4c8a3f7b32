"""A page a paper: its tables beside ours, its charts drawn again, and what would fill the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from harness.report.charts import figures
from harness.report.charts.chart import Chart
from harness.report.charts.papers import chart_of
from harness.report.pages.content import Paper, Report
from harness.report.pages.declared import Page
from harness.report.pages.index import checked
from harness.report.runs import RunDetail
from harness.report.tables.elsewhere import reported_elsewhere, row_label, strip_column
from harness.report.tables.model import Table
from harness.report.tables.published import KnownSpreads, Published

STRIP = "Diamonds: published here. Crosses: other papers and studies. Rings: our seeds."


def papers_of(
    tables: Mapping[str, Table],
    published: Published,
    spreads: KnownSpreads,
    runs: Mapping[str, RunDetail],
    unfilled: Mapping[str, str],
) -> tuple[Paper, ...]:
    """Returns the papers with a table, in the order of their keys, each with its tables and charts.

    unfilled: what it would take to fill a table that no declared run fills, by the table's key.
    """
    found = []
    for key, paper in sorted(published.papers.items()):
        own = {name: table for name, table in tables.items() if name.startswith(f"{key}/")}
        charts = {name: chart_of(table, runs) for name, table in own.items()}
        strips = [strip_of(table, published, spreads) for table in own.values()]
        if own:
            found.append(
                Paper(
                    key=key,
                    title=paper.title,
                    citation=paper.venue,
                    tables=tuple(own.values()),
                    figures=tuple(strip for strip in strips if strip),
                    notes=tuple(paper.notes),
                    short=paper.short or key.upper(),
                    charts={name: chart for name, chart in charts.items() if chart},
                    commands={name: command_of(name) for name in own if name not in unfilled},
                    unfilled={name: unfilled[name] for name in own if name in unfilled},
                )
            )
    return tuple(found)


def command_of(table: str) -> str:
    """Returns the command that runs a table or figure."""
    return f"sentbench plan {table} && dvc repro"


def strip_of(table: Table, published: Published, spreads: KnownSpreads) -> Chart | None:
    """Returns a table's mean column as seeds beside the printed value and what others report of the row.

    Only rows that runs of ours are meant to fill and of which more is known than one printed value; None
    where there is no such row, for a figure, and for a table without a mean.
    """
    if table.kind == "figure" or table.key not in published.tables:
        return None
    column = strip_column(table, list(published.table(table.key).averages))
    if column is None:
        return None
    index = [shown.key for shown in table.columns].index(column)
    values, printed, others = {}, {}, {}
    for row in table.rows:
        cell, label = row.cells[index], row_label(row)
        reports = reported_elsewhere(published, spreads, table=table.key, row=row.key, column=column)
        if cell.published is not None and cell.verdict != "cited" and (cell.values or reports):
            values[label], printed[label], others[label] = cell.values, cell.published, reports
    if not values:
        return None
    key = f"seeds-{table.key.replace('/', '-')}"
    name = table.columns[index].title
    svg = figures.seed_strip(values, printed, others=others, label=name, key=key)
    return Chart(key, f"{name} of {table.title}", svg, STRIP)


def paper_values(report: Report, paper: Paper) -> dict[str, Any]:
    """Returns what the page of one paper shows; only the runs that its cells name are on it."""
    named = {key for table in paper.tables for row in table.rows for cell in row.cells for key in cell.runs}
    runs = {key: run for key, run in report.runs.items() if key in named}
    return {
        "report": checked(replace(report, runs=runs), paper.tables),
        "paper": paper,
        "curves": figures.system_curves(runs.values()),
    }


def page_of(paper: Paper) -> Page:
    """Returns the page of one paper."""
    return Page(paper.short, paper.file, "paper.html.j2", partial(paper_values, paper=paper), order=1)


def pages(report: Report) -> list[Page]:
    """Returns a page for every paper of the report."""
    return [page_of(paper) for paper in report.papers]
