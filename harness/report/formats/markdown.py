"""Output for GitHub: a table as Markdown, and annotations of a pull request."""

import re
from typing import Literal

from harness.report.formats.number import Format
from harness.report.formats.templates import fill
from harness.report.formats.text import (
    CITED,
    DASH,
    describe_seeds,
    grouped_rows,
    is_cited,
    legend_of,
    list_remarks,
    mark_of,
    row_seeds,
    shown_cells,
)
from harness.report.tables.model import Cell, Table

Level = Literal["notice", "warning", "error"]


def escape(text: str) -> str:
    """Returns text that Markdown shows as it is, also inside a table cell."""
    escaped = re.sub(r"([\\`*_\[\]|~#$])", r"\\\1", " ".join(text.split()))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_code(text: object) -> str:
    """Returns text that may be between backticks, also inside a table cell."""
    return " ".join(str(text).split()).replace("`", "'").replace("|", r"\|")


def to_markdown(table: Table) -> str:
    """Returns the table: our mean ± sd with the verdict's mark, the published value in brackets.

    Bold marks rows that no competing row is shown to beat.
    """
    rows = [
        {
            "group": escape(group),
            "title": escape(row.title),
            "n": row_seeds(row),
            "source": escape(row.source),
            "cells": shown_cells(table, row, format_cell),
        }
        for group, row in grouped_rows(table)
    ]
    values = {
        "key": table.key,
        "title": escape(table.title),
        "columns": [
            escape(column.title) + (f" ({escape(column.mark)})" if column.mark else "")
            for column in table.columns
        ],
        "rows": rows,
        "seeds": escape(describe_seeds(table)),
        "protocol": escape(table.protocol),
        "legend": [f"{mark} {meaning}" for mark, meaning in legend_of(table)],
        "remarks": [escape(remark) for remark in list_remarks(table)],
    }
    return fill("table.md.j2", values)


def format_cell(cell: Cell, form: Format) -> str:
    """Returns one cell: ours, the sign, the published value; a dash if neither is known."""
    parts = []
    if cell.value is not None:
        number = form.show(cell.value)
        ours = f"**{number}**" if cell.leads else number
        if cell.sd is not None:
            ours += f" ± {form.show(cell.sd)}"
        parts += [ours, mark_of(cell)]
    if cell.published is not None:
        parts.append(f"({form.show(cell.published)})")
    if cell.value is None:
        parts += [mark_of(cell), CITED if is_cited(cell) else ""]
    return " ".join(filter(None, parts)) or DASH


def annotation(level: Level, title: str, message: str) -> str:
    """Returns one annotation as a line that GitHub Actions reads from a step's output.

    Source: GitHub's documentation of workflow commands: `::error title=...::message`, with special characters
    written as % and two hexadecimal digits.
    """
    heading, text = (
        part.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A") for part in (title, message)
    )
    return f"::{level} title={heading.replace(':', '%3A').replace(',', '%2C')}::{text}"
