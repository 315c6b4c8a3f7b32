"""A table as LaTeX with booktabs."""

from __future__ import annotations

from pathlib import Path

from harness.report.model import Cell, Column, Rank, Table, TableRow, Verdict
from harness.report.text import (
    MEANINGS,
    TEMPLATES,
    describe_seeds,
    fill_template,
    format_number,
    group_starts,
    list_remarks,
    more_seeds,
    used_verdicts,
)

MARKS: dict[Verdict, str] = {
    "agrees": "=",
    "near": r"\approx",
    "differs": r"\neq",
    "not separable": "?",
    "missing": "",
    "cited": r"\dagger",
    "ours": "",
}
DASH = "--"
SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "±": r"$\pm$",
        "×": r"$\times$",
        "–": "--",
        "≤": r"$\le$",
        "≥": r"$\ge$",
        "α": r"$\alpha$",
        "β": r"$\beta$",
        "τ": r"$\tau$",
        "φ": r"$\phi$",
    }
)
DELIMITERS = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}


def escape(text: str) -> str:
    """Returns text that LaTeX prints as it is."""
    return " ".join(text.split()).translate(SPECIAL)


def to_latex(table: Table, templates: Path = TEMPLATES) -> str:
    """Returns a table* environment: our mean with the sd as subscript and the verdict as superscript.

    The published values stand in a row of their own below ours. Best is bold and second best underlined, ours
    and the published values each among themselves. A comment names the runs of each row.
    """
    rows = [
        {
            "group": escape(group),
            "title": escape(row.title),
            "runs": list_runs(row),
            "ours": format_ours(table, row),
            "published": format_published(table, row),
        }
        for group, row in zip(group_starts(table), table.rows, strict=True)
    ]
    legend = [f"${MARKS[verdict]}$ {escape(MEANINGS[verdict])}" for verdict in used_verdicts(table)]
    values = {
        "key": table.key,
        "label": "tab:" + table.key.replace("/", "-"),
        "size": r"\small" if len(table.columns) <= 9 else r"\scriptsize",
        "alignment": "l" + "r" * len(table.columns),
        "width": len(table.columns) + 1,
        "columns": [_header(column) for column in table.columns],
        "rows": rows,
        "caption": [
            escape(text) for text in (table.title + ".", describe_seeds(table), table.protocol) if text
        ],
        "legend": "; ".join(legend),
        "remarks": [escape(remark) for remark in list_remarks(table)],
    }
    return fill_template("table.tex.j2", DELIMITERS, values, templates)


def list_runs(row: TableRow) -> str:
    """Returns the keys of a row's runs, or what it is instead."""
    runs = list(dict.fromkeys(key for cell in row.cells for key in cell.runs))
    if runs:
        return "runs: " + ", ".join(runs)
    return "cited only" if all(cell.verdict == "cited" for cell in row.cells) else "no runs yet"


def format_ours(table: Table, row: TableRow) -> list[str]:
    """Returns our cells of a row; none if the row is cited only."""
    if all(cell.verdict == "cited" for cell in row.cells):
        return []
    return [
        _ours(cell, column, table.decimals) for column, cell in zip(table.columns, row.cells, strict=True)
    ]


def format_published(table: Table, row: TableRow) -> list[str]:
    """Returns the published cells of a row; none if nothing is published."""
    if all(cell.published is None for cell in row.cells):
        return []
    return [
        DASH
        if cell.published is None
        else f"${_ranked(format_number(cell.published, column, table.decimals), cell.published_rank)}$"
        for column, cell in zip(table.columns, row.cells, strict=True)
    ]


def _ours(cell: Cell, column: Column, decimals: int) -> str:
    if cell.value is None:
        return DASH
    below = "" if cell.sd is None else rf"_{{\pm {format_number(cell.sd, column, decimals)}}}"
    more = more_seeds(cell)
    mark = MARKS[cell.verdict] + ("" if more is None else f"+{more}")
    above = f"^{{{mark}}}" if mark else ""
    return f"${_ranked(format_number(cell.value, column, decimals), cell.rank)}{below}{above}$"


def _ranked(number: str, rank: Rank) -> str:
    return {"best": rf"\mathbf{{{number}}}", "second": rf"\underline{{{number}}}", "": number}[rank]


def _header(column: Column) -> str:
    return escape(column.title) + (rf" \textit{{({escape(column.mark)})}}" if column.mark else "")
