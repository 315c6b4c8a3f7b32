"""Learning curves, and the papers' figures with the published values and ours in the same axes."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.evidence.settling import counted
from harness.report.chart import Chart, Row, draw
from harness.report.formats.number import Format
from harness.report.runs import RunDetail, slug
from harness.report.tables.model import Cell, Table, row_label

WIDE = 30.0
"""Axis values further apart than this factor are on a logarithmic axis."""
MARK_KINDS = ["reported", "ours", "independent source"]
"""The marks of a picture by rows, in the order of its legend."""


def learning_curves(runs: Iterable[RunDetail]) -> list[Chart]:
    """Returns a picture for each backbone with a panel for each system that trained on it."""
    by_backbone: dict[str, dict[str, list[RunDetail]]] = {}
    for run in runs:
        if len(run.curve) > 1:
            name = " ".join(filter(None, (run.about.method, run.about.variant)))
            by_backbone.setdefault(run.about.backbone, {}).setdefault(name, []).append(run)
    return [_learning_curve(backbone, systems) for backbone, systems in by_backbone.items()]


def _learning_curve(backbone: str, systems: Mapping[str, Sequence[RunDetail]]) -> Chart:
    rows, gains = [], {}
    for name, runs in systems.items():
        drawn = curve_rows(name, runs, "score")
        means = [row["y"] for row in drawn if row["kind"] == "ours"]
        gains[name] = max(means) - means[0]
        rows += drawn
    best = max(gains, key=lambda name: gains[name])
    return draw(
        "lines",
        rows,
        key=f"learning-{slug(backbone)}",
        title=f"Learning on {backbone}",
        caption="STS-B dev Spearman × 100 over training steps, mean ± one standard deviation over seeds; "
        "thin lines are seeds.",
        says=f"{sum(gain > 0 for gain in gains.values())} of {len(gains)} systems improve on their start, "
        f"{best} most, by {gains[best]:.1f} points.",
        wide=4,
        narrow=2,
        x_title="training steps",
    )


def curve_rows(panel: str, runs: Sequence[RunDetail], quantity: str) -> list[Row]:
    """Returns the mean over seeds at each step, its band of one standard deviation, and every seed.

    quantity: of the evaluations, `score`, which is x 100, `alignment` or `uniformity`.
    """
    scale = 100 if quantity == "score" else 1
    points = [
        (run.about.seed, evaluation.step, getattr(evaluation, quantity))
        for run in runs
        for evaluation in run.curve
    ]
    known = [(seed, step, scale * value) for seed, step, value in points if value is not None]
    known.sort(key=lambda point: point[:2])
    at_step: dict[int, list[float]] = {}
    for _, step, value in known:
        at_step.setdefault(step, []).append(value)
    rows: list[Row] = []
    labels = {"panel": panel, "series": "ours"}
    for step, values in sorted(at_step.items()):
        mean = statistics.fmean(values)
        sd = statistics.stdev(values) if len(values) > 1 else 0.0
        band = {"y": round(mean, 4), "low": round(mean - sd, 4), "high": round(mean + sd, 4)}
        says = f"{panel}, step {step}: {mean:.2f} ± {sd:.2f}"
        rows.append({**labels, "kind": "ours", "x": step, **band, "says": says})
    return rows + [
        {**labels, "kind": "seed", "seed": seed, "x": step, "y": round(value, 4)}
        for seed, step, value in known
    ]


def chart_of(table: Table, runs: Mapping[str, RunDetail]) -> Chart | None:
    """Returns the picture of a table that is a figure or has an axis, None without values."""
    key = f"chart-{slug(table.key)}"
    if table.logs:
        return _log_curves(table, runs, key)
    placed = any(row.x is not None for row in table.rows)
    if not (placed or table.kind == "figure"):
        return None
    rows = list(_axis_rows(table) if placed else _plain_rows(table))
    if not rows:
        return None
    says = compared(rows)
    if not placed:
        return draw(
            "rows",
            rows,
            key=key,
            title=table.title,
            caption="Diamonds: reported. Circles: our seeds; the bar is their mean ± one standard deviation.",
            says=says,
            x_title=table.unit,
            kinds=MARK_KINDS,
        )
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


def compared(rows: list[Row]) -> str:
    """Describes the number of a picture's reported values with a value of ours, and the differences."""
    fields = ("panel", "series", "x", "name")
    means: dict[str, dict[tuple[object, ...], float]] = {"reported": {}, "ours": {}}
    for row in rows:
        if row["kind"] in means:
            value = row.get("mean", row.get("y", row.get("value")))
            means[row["kind"]][tuple(row.get(field) for field in fields)] = value
    both = [abs(means["ours"][at] - value) for at, value in means["reported"].items() if at in means["ours"]]
    if not both:
        return f"{counted(len(means['reported']), 'reported value')}, not run yet."
    reported = counted(len(means["reported"]), "reported value")
    return f"Ours exist for {len(both)} of {reported}; the largest difference is {max(both):.2f}."


def cell_rows(name: str, cell: Cell, form: Format) -> Iterator[Row]:
    """Yields the marks of a cell in a picture, in the scale of its table: its reported value, our seeds, our
    mean and band.
    """
    if cell.value is not None:
        value, sd = form.number(cell.value), form.number(cell.sd or 0.0)
        labels = {"name": name, "kind": "ours", "mean": value}
        yield {**labels, "low": value - sd, "high": value + sd}
        for value in map(form.number, cell.values or (cell.value,)):
            yield {**labels, "value": value, "says": f"{name}, ours: {value:.2f}"}
    if cell.published is not None:
        value = form.number(cell.published)
        yield {"name": name, "kind": "reported", "value": value, "says": f"{name}, reported: {value:.2f}"}


def _plain_rows(table: Table) -> Iterator[Row]:
    shown = [index for index, column in enumerate(table.columns) if not column.plain]
    for row in table.rows:
        for index in shown:
            name = row_label(row) if len(shown) == 1 else f"{row_label(row)}, {table.columns[index].title}"
            yield from cell_rows(name, row.cells[index], table.scores)


def _axis_rows(table: Table) -> Iterator[Row]:
    columns = [(index, column.title) for index, column in enumerate(table.columns) if not column.plain]
    number = table.scores.number
    for index, panel in columns:
        for row in (row for row in table.rows if row.x is not None):
            cell, where = row.cells[index], {"panel": panel, "series": row.group or "all", "x": row.x}
            for kind, points in (("reported", cell.published), ("ours", cell.value)):
                if points is not None:
                    value, sd = number(points), number(cell.sd or 0.0) if kind == "ours" else 0.0
                    band = {"low": value - sd, "high": value + sd} if sd else {}
                    says = f"{panel}, {row_label(row)}, {kind}: {value:.2f}"
                    yield {**where, "kind": kind, "y": value, **band, "says": says}


def _log_curves(table: Table, runs: Mapping[str, RunDetail], key: str) -> Chart | None:
    """Returns the quantities of training logs over steps, a panel for each row and quantity with values."""
    behind = {}
    for row in table.rows:
        keys = dict.fromkeys(key for cell in row.cells for key in cell.runs)
        behind[row.title] = [runs[key] for key in keys if key in runs]
    rows: list[Row] = []
    for quantity in table.logs:
        for title, lines in behind.items():
            rows += curve_rows(f"{title}: {quantity}", lines, quantity)
    if not rows:
        return None
    return draw(
        "lines",
        rows,
        key=key,
        title=table.title,
        caption="Mean over seeds at each step, ± one standard deviation; thin lines are seeds.",
        shared="independent",
        x_title="training steps",
    )
