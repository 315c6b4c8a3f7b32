"""Search index of all pages: papers, tables, systems and reported numbers, in one file."""

import json
from typing import Any

from harness.evidence.cite import citation_of
from harness.report.pages.answers import address_of, answers_of
from harness.report.pages.cells import anchors_of, shown_number
from harness.report.pages.content import MAIN, RUNS, Report
from harness.report.tables.leaderboard import has_values
from harness.report.tables.model import Table, TableRow, row_label

SEARCH = "pages/search.js"
"""The file that a page loads when a reader first puts the cursor into its search field."""


def search_file(report: Report) -> str:
    """Returns the script with the search index."""
    listed = {"places": search_places(report), "tables": search_tables(report)}
    text = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    return f"searchFound({text});\n"


def search_places(report: Report) -> list[tuple[str, str, str]]:
    """Returns kind, name and address (relative to the main page) of all entries except table rows."""
    targets = []
    for answer in answers_of(report):
        cited = f", cite {citation_of(answer.judged).value:.2f}" if answer.cite else ""
        targets.append(("number", f"{answer.name} {answer.reported}{cited}", f"{MAIN}#{answer.anchor}"))
    targets += [
        ("system", f"{runs[0].about.id}: {system}", f"{RUNS}#{runs[0].anchor}")
        for system, runs in report.systems.items()
    ]
    return targets + [("paper", paper.title, paper.file) for paper in report.papers]


def search_tables(report: Report) -> list[dict[str, Any]]:
    """Returns the tables: kind, title, address (relative to the main page), columns, rows with their numbers.

    A column is its id, its title, and whether it is an average, which is found first. A row is its name,
    its id, and the number of each column: the reported one, otherwise ours, otherwise empty.
    """
    tables = []
    for table in report.all_tables.values():
        address, _, anchor = address_of(report, table).partition("#")
        shown = table not in (*report.tables, *report.own_tables) or has_values(table)
        anchors = anchors_of(table)
        columns = [
            [target, column.title, column.average]
            for target, column in zip(anchors.columns, table.columns, strict=True)
        ]
        # the page of a table without values shows no rows
        rows = zip(table.rows, anchors.rows, strict=True) if shown else ()
        tables.append(
            {
                "kind": table.kind,
                "title": table.title,
                "page": address or MAIN,
                "id": anchor,
                "columns": columns,
                "rows": [[row_label(row), target, *_numbers(table, row)] for row, target in rows],
            }
        )
    return tables


def _numbers(table: Table, row: TableRow) -> list[str]:
    pairs = zip(table.columns, row.cells, strict=True)
    return [
        shown_number(cell.value if cell.published is None else cell.published, table.format(column))
        for column, cell in pairs
    ]
