"""The page of a paper: its numbers, tables, figures, claims, deviations of its code, runs and log."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from harness.evidence.judged import Fact
from harness.evidence.published import Published
from harness.evidence.settling import RUNS_PLAN
from harness.evidence.words import scale
from harness.report.bibtex import paper_entry
from harness.report.chart import Chart, Row, draw
from harness.report.figures import MARK_KINDS, cell_rows, chart_of, compared, learning_curves
from harness.report.formats.number import Format
from harness.report.pages.audit import audit_values
from harness.report.pages.claims import claims_values
from harness.report.pages.content import Page, Paper, Report
from harness.report.pages.first_screen import answer_values
from harness.report.runs import RunDetail, slug
from harness.report.tables.model import Cell, Table, judged_numbers, reading_order, row_label


def papers_of(
    tables: Mapping[str, Table], published: Published, runs: Mapping[str, RunDetail]
) -> tuple[Paper, ...]:
    """Returns the papers with a table, in the order of their keys, each with its tables in reading order."""
    papers = []
    for key, paper in sorted(published.papers.items()):
        of_paper = [table for name, table in tables.items() if name.startswith(f"{key}/")]
        if not of_paper:
            continue
        of_paper.sort(key=reading_order)
        charts = {table.key: chart_of(table, runs) for table in of_paper}
        papers.append(
            Paper(
                key=key,
                title=paper.title,
                citation=paper.venue,
                tables=tuple(of_paper),
                figures=tuple(filter(None, [chart_of_means(table, published) for table in of_paper])),
                notes=tuple(paper.notes),
                short=paper.short or key.upper(),
                charts={name: chart for name, chart in charts.items() if chart},
                link=paper.link,
                code=paper.code,
                bibtex=paper_entry(paper),
            )
        )
    return tuple(papers)


def plan_command(table: Table) -> str:
    """Returns the command that runs a table or figure; empty if no run fills it."""
    wanted = any(cell.wanted and (cell.n or cell.value is None) for _, _, cell in table.cells())
    return f"sentbench plan {table.key} && {RUNS_PLAN}" if wanted else ""


def chart_of_means(table: Table, published: Published) -> Chart | None:
    """Returns a table's mean column as seeds next to the reported value and independent results. Only rows
    with planned runs and more evidence than one reported value; None without such a row, for a figure, and
    for a table without a mean.
    """
    if table.kind == "figure" or table.key not in published.tables:
        return None
    averages = published.table(table.key).averages
    means = [number for number, column in enumerate(table.columns) if column.key in averages]
    if not means:
        return None
    index = means[-1]
    rows: list[Row] = []
    for row in table.rows:
        cell, name = row.cells[index], row_label(row)
        form = table.format(table.columns[index])
        others = others_values(cell, form)
        if cell.published is not None and cell.wanted and (cell.values or others):
            rows += cell_rows(name, cell, form)
            rows += [
                {"name": name, "kind": "independent source", "value": value, "says": f"{name}: {value:.2f}"}
                for value in others
            ]
    if not rows:
        return None
    title = table.columns[index].title
    return draw(
        "rows",
        rows,
        key=f"seeds-{slug(table.key)}",
        title=f"{title} of {table.title}",
        caption="Diamonds: reported here. Crosses: sources that ran it again by its recipe. "
        "Circles: our seeds.",
        says=compared(rows),
        x_title=title,
        kinds=MARK_KINDS,
    )


def others_values(cell: Cell, form: Format) -> list[float]:
    """Returns the value of each independent source of a cell's number, in the table's display scale."""
    if cell.judged is None:
        return []
    return [form.number(value) for value in cell.judged.others.independent.sources.values()]


def paper_values(report: Report, paper: Paper) -> dict[str, Any]:
    """Returns the content of a paper's page, with only the runs of its cells."""
    named = {key for table in paper.tables for _, _, cell in table.cells() for key in cell.runs}
    runs = {key: run for key, run in report.runs.items() if key in named}
    return {
        **answer_values(report, paper.tables, paper.key),
        **claims_values(report, paper),
        **audit_values(report, paper.key),
        "report": replace(report, runs=runs),
        "paper": paper,
        "log": log_entries(paper.tables, runs),
        "own": own_numbers(paper.tables),
        "runnable": any(map(plan_command, paper.tables)),
        "figures": [*paper.charts.values(), *paper.figures],
        "learning": learning_curves(runs.values()),
    }


def own_numbers(tables: Sequence[Table]) -> tuple[int, int]:
    """Returns the number of different scores of the paper's own method, and the number with our runs."""
    numbers: dict[Fact, bool] = {}
    for _, row, judged in judged_numbers(tables):
        if row.is_own:
            numbers[judged.fact] = numbers.get(judged.fact, False) or bool(judged.values)
    return len(numbers), sum(numbers.values())


class LogEntry(NamedTuple):
    """Runs of one system from one state of the code on one device.

    result: the verdicts of their cells, in words.
    """

    code: str
    device: str
    system: str
    seeds: tuple[int, ...]
    result: str


def log_entries(tables: Sequence[Table], runs: Mapping[str, RunDetail]) -> list[LogEntry]:
    """Returns the log of the runs in cells of the tables, in the order of the tables."""
    cells = [cell for table in tables for _, _, cell in table.cells()]
    groups: dict[tuple[str, str, str], dict[str, int]] = {}
    for key in dict.fromkeys(key for cell in cells for key in cell.runs):
        if key in runs:
            run = runs[key]
            group = (run.made_from, run.result.provenance.device, run.system)
            groups.setdefault(group, {})[key] = run.about.seed
    log = []
    for group, seeds in groups.items():
        filled = [cell for cell in cells if not seeds.keys().isdisjoint(cell.runs)]
        counts = Counter(cell.judged.word for cell in filled if cell.judged is not None)
        words = [f"{counts[word]} {word.text}" for word in scale() if counts[word]]
        result = ", ".join(words) or f"{len(filled)} cells, nothing reported"
        log.append(LogEntry(*group, tuple(sorted(seeds.values())), result))
    return log


def pages(report: Report) -> list[Page]:
    """Returns a page for every paper of the report."""
    papers = []
    for paper in report.papers:
        build = partial(paper_values, paper=paper)
        papers.append(Page(paper.short, paper.file, "paper.html.j2", build, order=1, group="Papers"))
    return papers
