"""What training and the runs look like: learning curves by backbone, and the geometry of the vectors."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from harness.facts.spec import system_label
from harness.report.charts.chart import Chart, Row, draw
from harness.report.runs import RunDetail, selected_scores, slug
from harness.results.schema import ResultFile

QUANTITIES = ("alignment", "uniformity")
"""What a figure of a training log may draw, besides the development score."""
ROOM = (0.17, 0.04)
"""What a name needs next to a point, as shares of the picture's width and height."""


def seed_lines(runs: Iterable[RunDetail], quantity: str) -> dict[int, list[tuple[int, float]]]:
    """Returns per seed the steps with a quantity of its evaluations, in their order; None is left out.

    quantity: `score`, which is x 100, or one of QUANTITIES.
    """
    points = [(run.about.seed, one.step, getattr(one, quantity)) for run in runs for one in run.curve]
    lines: dict[int, list[tuple[int, float]]] = {}
    for seed, step, value in sorted(points, key=lambda point: point[:2]):
        if value is not None:
            lines.setdefault(seed, []).append((step, 100 * value if quantity == "score" else value))
    return lines


def learning_curves(runs: Iterable[RunDetail]) -> list[Chart]:
    """Returns a picture for each backbone with a panel for each system that trained on it."""
    found: dict[str, dict[str, list[RunDetail]]] = {}
    for run in runs:
        if len(run.curve) > 1:
            name = " ".join(filter(None, (run.about.method, run.about.variant)))
            found.setdefault(run.about.backbone, {}).setdefault(name, []).append(run)
    return [_curves_of(backbone, systems) for backbone, systems in found.items()]


def _curves_of(backbone: str, systems: Mapping[str, Sequence[RunDetail]]) -> Chart:
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
    """Returns the mean over the seeds with a value at each step, with its band of one sample standard
    deviation, 0 for a single seed, and every seed.
    """
    lines = seed_lines(runs, quantity)
    at_step: dict[int, list[float]] = {}
    for step, value in (point for line in lines.values() for point in line):
        at_step.setdefault(step, []).append(value)
    rows: list[Row] = []
    for step, values in sorted(at_step.items()):
        mean = statistics.fmean(values)
        sd = statistics.stdev(values) if len(values) > 1 else 0.0
        rows.append(
            {
                "panel": panel,
                "series": "ours",
                "kind": "ours",
                "x": step,
                "y": round(mean, 4),
                "low": round(mean - sd, 4),
                "high": round(mean + sd, 4),
                "says": f"{panel}, step {step}: {mean:.2f} ± {sd:.2f}",
            }
        )
    return rows + [
        {"panel": panel, "series": "ours", "kind": "seed", "seed": seed, "x": step, "y": round(value, 4)}
        for seed, line in lines.items()
        for step, value in line
    ]


def log_curves(
    curves: Mapping[str, Sequence[RunDetail]], quantities: Sequence[str], key: str, title: str
) -> Chart | None:
    """Returns the quantities of training logs over steps, a panel each; None if no log has one."""
    rows = [
        row
        for quantity in quantities
        for name, runs in curves.items()
        for row in curve_rows(f"{name}: {quantity}", runs, quantity)
    ]
    if not rows:
        return None
    return draw(
        "lines",
        rows,
        key=key,
        title=title,
        caption="Mean over seeds at each step, ± one standard deviation; thin lines are seeds.",
        shared="independent",
        x_title="training steps",
    )


def geometry_figure(results: Sequence[ResultFile]) -> list[Chart]:
    """Returns a picture of alignment against uniformity of every system, none where neither was measured."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for result in results:
        values = {
            score.metric: score.value
            for score in selected_scores(result)
            if score.metric in QUANTITIES and score.setting == "all" and not score.task.endswith("-dev")
        }
        if len(values) == len(QUANTITIES):
            run = result.run
            label = system_label(run.method, run.variant, run.backbone)
            found.setdefault((label, run.backbone), []).append((values["uniformity"], values["alignment"]))
    if not found:
        return []
    rows: list[dict[str, object]] = []
    for (label, backbone), shapes in found.items():
        x, y = (statistics.fmean(values) for values in zip(*shapes, strict=True))
        says = f"{label}: alignment {y:.3f}, uniformity {x:.3f}"
        at = {"x": round(x, 4), "y": round(y, 4)}
        rows.append({"name": label.partition("@")[0], "kind": backbone or "words", **at, "says": says})
    ends = [min(rows, key=lambda row: row["x"]), min(rows, key=lambda row: row["y"])]  # type: ignore[arg-type, return-value]
    return [
        draw(
            "points",
            named(rows),
            key="geometry",
            title="Alignment and uniformity",
            caption="Of unit vectors of STS-B test, a point for each system, mean over seeds. Lower is "
            "better in both; low alignment alone says little, as a constant encoder has 0 (Wang and Isola).",
            says=f"{ends[0]['name']} spreads vectors most, {ends[1]['name']} keeps similar pairs closest.",
            x_title="uniformity (lower is more spread)",
            y_title="alignment (lower is closer)",
        )
    ]


def named(rows: Sequence[dict[str, object]]) -> list[Row]:
    """Returns the rows with a `label` for each point whose name touches no point and no name before it."""
    spans = [[float(str(row[axis])) for row in rows] for axis in ("x", "y")]
    sizes = [(max(span) - min(span)) or 1.0 for span in spans]
    places = [tuple(v / size for v, size in zip(at, sizes, strict=True)) for at in zip(*spans, strict=True)]
    shown: list[Row] = []
    taken = list(places)
    for row, (x, y) in zip(rows, places, strict=True):
        free = not any(
            -0.01 <= a - x <= ROOM[0] and abs(b - y) < ROOM[1] for a, b in taken if (a, b) != (x, y)
        )
        if free:
            taken.append((x + ROOM[0] / 2, y))
        shown.append({**row, "label": row["name"]} if free else row)
    return shown
