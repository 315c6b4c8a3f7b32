"""The papers' figures drawn again: the published values and ours in the same axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.report.charts.chart import Chart, Row, draw
from harness.report.charts.training import log_curves, seed_lines
from harness.report.runs import RunDetail, slug
from harness.report.tables.model import Cell, Table, row_label

WIDE = 30.0
"""Axis values further apart than this factor are on a logarithmic axis."""
KINDS = ("reported", "ours", "independent source")
"""The marks of a picture by rows, in the order of its legend."""


def chart_of(table: Table, runs: Mapping[str, RunDetail]) -> Chart | None:
    """Returns the picture of a table that is a figure or has an axis, None if there is nothing to draw.

    Errors: InputError if vl-convert is missing.
    """
    key = f"chart-{slug(table.key)}"
    if table.logs:
        return log_curves(_curves(table, runs), table.logs, key, table.title)
    placed = any(row.x is not None for row in table.rows)
    if not (placed or table.kind == "figure"):
        return None
    rows = list(_axis_rows(table) if placed else _plain_rows(table))
    if not rows:
        return None
    says = compared(rows)
    if not placed:
        return by_rows(rows, key=key, title=table.title, says=says, x_title=table.unit)
    where = {row.x for row in table.rows if row.x is not None}
    wide = min(where) > 0 and max(where) / min(where) > WIDE
    many = len({row["series"] for row in rows}) > 1
    return draw(
        "lines",
        rows,
        key=key,
        title=table.title,
        caption="Dashed, diamonds: reported. Solid, circles: ours, with a band of one standard deviation.",
        says=says,
        scale="log" if wide else "linear",
        legend={"title": None} if many else None,
        kinds={"title": None},
        dot=36,
        x_title=table.x_title,
        y_title=table.unit,
    )


def by_rows(rows: list[Row], *, key: str, title: str, says: str, x_title: str, caption: str = "") -> Chart:
    """Returns a picture with a line for each name, and the kinds of values as `KINDS` has them."""
    return draw(
        "rows",
        rows,
        key=key,
        title=title,
        caption=caption
        or "Diamonds: reported. Circles: our seeds; the bar is their mean ± one standard deviation.",
        says=says,
        x_title=x_title,
        kinds=list(KINDS),
    )


def compared(rows: list[Row]) -> str:
    """Returns how many of the reported values of a picture we have a value of, and how far ours are off."""
    fields = ("panel", "series", "x", "name")
    means: dict[str, dict[tuple[object, ...], float]] = {"reported": {}, "ours": {}}
    for row in rows:
        if row["kind"] in means:
            value = row.get("mean", row.get("y", row.get("value")))
            means[row["kind"]][tuple(row.get(field) for field in fields)] = value
    both = [abs(means["ours"][at] - value) for at, value in means["reported"].items() if at in means["ours"]]
    if not both:
        return f"{len(means['reported'])} reported values; none of them has been run yet."
    return (
        f"Ours exist for {len(both)} of {len(means['reported'])} reported values; the largest difference is "
        f"{max(both):.2f}."
    )


def cell_rows(name: str, cell: Cell) -> Iterator[Row]:
    """Yields the marks of one cell in a picture by rows: its reported value, our seeds, our mean and band."""
    if cell.value is not None:
        yield {
            "name": name,
            "kind": "ours",
            "mean": cell.value,
            "low": cell.value - (cell.sd or 0.0),
            "high": cell.value + (cell.sd or 0.0),
        }
        for value in cell.values or (cell.value,):
            yield {
                "name": name,
                "kind": "ours",
                "value": value,
                "mean": cell.value,
                "says": f"{name}, ours: {value:.2f}",
            }
    if cell.published is not None:
        value = cell.published
        yield {"name": name, "kind": "reported", "value": value, "says": f"{name}, reported: {value:.2f}"}


def _plain_rows(table: Table) -> Iterator[Row]:
    shown = [index for index, column in enumerate(table.columns) if not column.plain]
    for row in table.rows:
        for index in shown:
            name = row_label(row) if len(shown) == 1 else f"{row_label(row)}, {table.columns[index].title}"
            yield from cell_rows(name, row.cells[index])


def _axis_rows(table: Table) -> Iterator[Row]:
    columns = [(index, column.title) for index, column in enumerate(table.columns) if not column.plain]
    for index, panel in columns:
        for row in (row for row in table.rows if row.x is not None):
            cell, where = row.cells[index], {"panel": panel, "series": row.group or "all", "x": row.x}
            for kind, value in (("reported", cell.published), ("ours", cell.value)):
                if value is not None:
                    sd = cell.sd if kind == "ours" else None
                    band = {"low": value - sd, "high": value + sd} if sd else {}
                    says = f"{panel}, {row_label(row)}, {kind}: {value:.2f}"
                    yield {**where, "kind": kind, "y": value, **band, "says": says}


def _curves(table: Table, runs: Mapping[str, RunDetail]) -> dict[str, list[RunDetail]]:
    """The runs behind a table's rows whose training logs have one of its quantities."""
    found: dict[str, list[RunDetail]] = {}
    for row in table.rows:
        keys = dict.fromkeys(key for cell in row.cells for key in cell.runs if key in runs)
        behind = [runs[key] for key in keys]
        if any(seed_lines(behind, quantity) for quantity in table.logs):
            found[row.title] = behind
    return found
