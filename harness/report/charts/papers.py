"""The papers' figures drawn again: the published values and ours in the same axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.report.charts import figures
from harness.report.charts.chart import Chart
from harness.report.charts.curves import CurvePoint
from harness.report.charts.palette import PALETTE, SERIES
from harness.report.charts.svg import WIDTH, drawing, to_svg
from harness.report.runs import RunDetail, slug
from harness.report.tables.model import Cell, Table, TableRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

PER_ROW = 2
"""The most panels side by side."""
LETTER = 0.0165
"""The width of a letter at a tick, as a share of a chart with one panel."""
WIDE = 30.0
"""Axis values further apart than this factor appear on a logarithmic axis."""
REPORTED = "Diamonds: published."
OURS = "Circles: ours, mean ± standard deviation over seeds; small dots are seeds."
UNRUN = "None of it has been run yet."


def chart_of(table: Table, runs: Mapping[str, RunDetail]) -> Chart | None:
    """Returns the chart of a table that is a figure or has an axis, None if there is nothing to draw.

    Errors: InputError if matplotlib is missing.
    """
    key = f"chart-{slug(table.key)}"
    if table.logs:
        curves = _curves(table, runs)
        svg = figures.geometry(curves, quantities=table.logs, key=key) if curves else None
        return Chart(key, table.title, svg, "Over training steps; thin lines are seeds.") if svg else None
    placed = any(row.x is not None for row in table.rows)
    drawn = [index for index in _panels(table) if _has_values(table, index)]
    if not drawn or not (placed or table.kind == "figure"):
        return None
    cells = [row.cells[index] for index in drawn for row in table.rows]
    reported = REPORTED if any(cell.published is not None for cell in cells) else "No value is reported."
    ours = OURS if any(cell.value is not None for cell in cells) else UNRUN
    return Chart(key, table.title, _draw(table, drawn, key, placed=placed), f"{reported} {ours}")


def _panels(table: Table) -> list[int]:
    """The columns that are scores; a plain one is the axis or a note."""
    return [index for index, column in enumerate(table.columns) if not column.plain]


def _has_values(table: Table, index: int) -> bool:
    cells = [row.cells[index] for row in table.rows]
    return any(cell.value is not None or cell.published is not None for cell in cells)


def _curves(table: Table, runs: Mapping[str, RunDetail]) -> dict[str, list[CurvePoint]]:
    """The training logs behind a table's rows, those without the quantities left out."""
    found: dict[str, list[CurvePoint]] = {}
    for row in table.rows:
        keys = dict.fromkeys(key for cell in row.cells for key in cell.runs if key in runs)
        points = [point for key in keys for point in runs[key].curve]
        if any(getattr(point, name) is not None for point in points for name in table.logs):
            found[row.title] = points
    return found


def _draw(table: Table, indices: Sequence[int], key: str, *, placed: bool) -> str:
    columns = min(len(indices), PER_ROW)
    lines = math.ceil(len(indices) / columns)
    height = 2.9 if placed else 1.0 + 0.3 * len(table.rows)
    with drawing(WIDTH, 0.5 + height * lines) as canvas:
        grid = canvas.subplots(lines, columns, squeeze=False, sharey=not placed, sharex=not placed)
        panels = list(grid.flat)
        for axes, index in zip(panels, indices, strict=False):
            if placed:
                _lines(axes, table, index, panels=columns)
            else:
                _dots(axes, table, index)
            if len(indices) > 1:
                axes.set_title(table.columns[index].title)
        for spare in panels[len(indices) :]:
            spare.set_visible(False)
        words = {"fontsize": 9, "color": PALETTE["muted"].light}
        canvas.supxlabel(table.x_title if placed else table.unit, **words)
        if placed:
            canvas.supylabel(table.unit, **words)
        _legend(canvas, panels[: len(indices)])
        return to_svg(canvas, key=key, title=table.title, description=_words(table, indices))


def _groups(table: Table) -> dict[str, list[TableRow]]:
    groups: dict[str, list[TableRow]] = {}
    for row in table.rows:
        groups.setdefault(row.group, []).append(row)
    return groups


def tick_names(where: Sequence[float], *, panels: int) -> list[str]:
    """Returns what appears at each tick of a logarithmic axis, nothing where it would touch the next one.

    where: the ticks, ascending; panels: how many such axes share the width of a chart.
    """
    span, end, names = math.log(where[-1] / where[0]), math.inf, []
    for x in reversed(where):
        name = f"{x:,.10g}"
        middle, half = math.log(x / where[0]) / span, LETTER * panels * (len(name) + 1) / 2
        fits = middle + half <= end
        end = middle - half if fits else end
        names.append(name if fits else "")
    return names[::-1]


def _lines(axes: Axes, table: Table, index: int, *, panels: int) -> None:
    """Values against the axis of the table, one pair of lines a group; `panels` appear side by side."""
    where = sorted({row.x for row in table.rows if row.x is not None})
    if min(where) > 0 and max(where) / min(where) > WIDE:
        axes.set_xscale("log")
        axes.set_xticks(where, tick_names(where, panels=panels))
        axes.minorticks_off()
    for style, (group, rows) in enumerate(_groups(table).items()):
        colour = PALETTE[SERIES[style % len(SERIES)]].light
        placed = sorted((row for row in rows if row.x is not None), key=lambda row: row.x or 0.0)
        points = [(row.x or 0.0, row.cells[index]) for row in placed]
        reported = [(x, cell.published) for x, cell in points if cell.published is not None]
        if reported:
            label = f"{group}, published" if group else "published"
            axes.plot(
                *zip(*reported, strict=True), "D--", color=colour, linewidth=0.9, markersize=5, label=label,
                markerfacecolor=PALETTE["paper"].light,
            )  # fmt: skip
        ours = [(x, cell.value) for x, cell in points if cell.value is not None]
        axes.plot([x for x, _ in ours], [value for _, value in ours], color=colour, linewidth=1.5)
        for x, cell in points:
            if cell.value is not None:
                _mark(axes, x, cell.value, cell, colour, label=f"{group}, ours" if group else "ours")
    axes.yaxis.grid(True, color=PALETTE["rule"].light, linewidth=0.5)


def _mark(axes: Axes, x: float, mean: float, cell: Cell, colour: str, *, label: str) -> None:
    """Our mean with its standard deviation and the seeds behind it; upright."""
    axes.errorbar(
        [x], [mean], yerr=[cell.sd or 0.0], fmt="o", color=colour, markersize=5.5, capsize=2,
        label=label,
    )  # fmt: skip
    axes.plot([x] * len(cell.values), list(cell.values), ".", color=colour, markersize=3, alpha=0.6)


def _dots(axes: Axes, table: Table, index: int) -> None:
    """One line a row: the published value and ours, lying."""
    published, ours = PALETTE["series-2"].light, PALETTE["series-1"].light
    for line, row in enumerate(table.rows):
        cell = row.cells[index]
        axes.axhline(line, color=PALETTE["rule"].light, linewidth=0.5, zorder=0)
        if cell.value is not None:
            axes.errorbar(
                [cell.value], [line], xerr=[cell.sd or 0.0], fmt="o", color=ours, capsize=2, label="ours"
            )
            axes.plot(list(cell.values), [line] * len(cell.values), ".", color=ours, markersize=3, alpha=0.6)
        if cell.published is not None:
            axes.plot([cell.published], [line], "D", color=published, markersize=5, label="published")
    axes.set_yticks(range(len(table.rows)), [row.title for row in table.rows])
    axes.set_ylim(len(table.rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.15)


def _legend(canvas: Canvas, panels: Sequence[Axes]) -> None:
    marks = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    canvas.legend(marks.values(), marks.keys(), loc="outside upper left", ncols=3, frameon=False, fontsize=8)


def _words(table: Table, indices: Sequence[int]) -> str:
    """The chart in sentences, for those who do not see it."""
    sentences = []
    for index in indices:
        for row in table.rows:
            cell = row.cells[index]
            said = [] if cell.published is None else [f"published {cell.published:.{table.decimals}f}"]
            said += [] if cell.value is None else [f"ours {cell.value:.{table.decimals}f}"]
            if said:
                sentences.append(f"{table.columns[index].title}, {row.title}: {', '.join(said)}.")
    return " ".join(sentences)
