"""A table as LaTeX with booktabs."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.report.formats.number import Format
from harness.report.formats.templates import fill
from harness.report.formats.text import (
    describe_seeds,
    grouped_rows,
    is_cited,
    legend_of,
    list_remarks,
    mark_of,
    row_seeds,
    shown_cells,
)
from harness.report.tables.model import Cell, Table, TableRow

SIGNS = str.maketrans(
    {
        "≤": r"\leq ",
        "≥": r"\geq ",
        "≠": r"\neq",
        "↓": r"\downarrow",
        "↑": r"\uparrow",
        "○": r"\circ",
        "†": r"\dagger",
        "‡": r"\ddagger",
    }
)
"""The signs of verdicts and settings in mathematics."""
DASH = "--"
LATEX_ESCAPES = str.maketrans(
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
        "[": "{[}",  # a bracket at the start of a row would be an argument of the previous line break
        "]": "{]}",
        "*": "{*}",  # so would a star
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


def escape(text: str) -> str:
    """Returns text that LaTeX prints as it is."""
    return re.sub(r"\s+", " ", text).translate(LATEX_ESCAPES)


def to_latex(table: Table) -> str:
    """Returns a table* environment: our mean with the sd as subscript and the verdict as superscript.

    The published values are in a separate row below ours. Bold marks rows that no competing row is shown to
    beat. A comment names the runs of each row.
    """
    rows = [
        {
            "group": escape(group),
            "title": escape(row.title),
            "n": row_seeds(row).replace("-", "--"),
            "runs": list_runs(row),
            "ours": shown_cells(table, row, _ours) if has_ours(row) or not _has_published(row) else [],
            "published": shown_cells(table, row, _published) if _has_published(row) else [],
            "cited": _cited_only(row),
        }
        for group, row in grouped_rows(table)
    ]
    legend = [f"${mark.translate(SIGNS)}$ {escape(meaning)}" for mark, meaning in legend_of(table)]
    caption = (f"{table.title}.", describe_seeds(table), table.protocol)
    size = _font_size(table, rows)
    values = {
        "key": table.key,
        "label": "tab:" + table.key.replace("/", "-"),
        "size": size,
        "remark_size": r"\tiny" if size.startswith(r"\tiny") else r"\scriptsize",
        "alignment": "lr" + "r" * len(table.columns),
        "width": len(table.columns) + 2,
        "columns": [
            escape(column.title) + (rf" \textit{{({escape(column.mark)})}}" if column.mark else "")
            for column in table.columns
        ],
        "rows": rows,
        "caption": [escape(text) for text in caption if text],
        "legend": ". ".join(legend),
        "remarks": [escape(remark.rstrip(".")) for remark in list_remarks(table)],
    }
    return fill("table.tex.j2", values, angles=True)


def _font_size(table: Table, rows: Sequence[Mapping[str, Any]]) -> str:
    lines = sum(bool(row["ours"]) + bool(row["published"]) + bool(row["group"]) for row in rows)
    if lines > 60:
        return r"\tiny\renewcommand{\arraystretch}{0.85}"
    return r"\small" if len(table.columns) <= 9 and lines <= 45 else r"\scriptsize"


def list_runs(row: TableRow) -> str:
    """Returns the keys of a row's runs, or the kind of row without runs."""
    runs = list(dict.fromkeys(key for cell in row.cells for key in cell.runs))
    if runs:
        return "runs: " + ", ".join(runs)
    return "cited only" if _cited_only(row) else "no runs yet"


def _cited_only(row: TableRow) -> bool:
    return all(is_cited(cell) for cell in row.cells)


def has_ours(row: TableRow) -> bool:
    """Returns whether a run of ours fills a cell of the row."""
    return any(cell.value is not None for cell in row.cells)


def _has_published(row: TableRow) -> bool:
    return any(cell.published is not None for cell in row.cells)


def _ours(cell: Cell, form: Format) -> str:
    if cell.value is None:
        return DASH if cell.published is None else ""
    number = form.show(cell.value)
    shown = rf"\mathbf{{{number}}}" if cell.leads else number
    return f"${shown}{_scripts(cell, form)}$"


def _published(cell: Cell, form: Format) -> str:
    """Returns the published value with its mark or, to align digits, the width of our scripts."""
    if cell.published is None:
        return DASH if cell.value is None else ""
    number = form.show(cell.published)
    if cell.value is None:
        return f"${number}{_mark(cell)}$"
    scripts = _scripts(cell, form)
    return f"${number}\\phantom{{{{}}{scripts}}}$" if scripts else f"${number}$"


def _scripts(cell: Cell, form: Format) -> str:
    below = "" if cell.sd is None else rf"_{{\pm {form.show(cell.sd)}}}"
    return below + _mark(cell)


def _mark(cell: Cell) -> str:
    mark = mark_of(cell).translate(SIGNS)
    return f"^{{{mark}}}" if mark else ""
