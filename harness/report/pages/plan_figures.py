"""The pictures of the runs of a plan: ranks, learning curves, alignment and uniformity."""

import statistics
from collections.abc import Sequence

from harness.evidence.schema import ResultFile
from harness.evidence.spec import system_label
from harness.report.chart import Chart, Row, draw
from harness.report.figures import learning_curves
from harness.report.pages.content import Report
from harness.report.runs import selected_scores, slug
from harness.report.tables.model import Table

QUANTITIES = ("alignment", "uniformity")
LABEL_ROOM = (0.17, 0.04)
"""Space of a name next to a point, as shares of the picture's width and height."""


def figures_of(report: Report) -> list[Chart]:
    """Returns the pictures of the runs: ranks, learning, geometry."""
    return [
        *filter(None, [ranks_of(table) for table in report.tables[:1]]),
        *learning_curves(report.runs.values()),
        *filter(None, [geometry_figure(report.results)]),
    ]


def ranks_of(table: Table) -> Chart | None:
    """Returns the possible ranks of each system of a table by its last ranked column; None without one."""
    ranked = [i for i in range(len(table.columns)) if any(row.cells[i].ranks for row in table.rows)]
    if not ranked:
        return None
    cells = [(row, row.cells[ranked[-1]]) for row in table.rows]
    with_ranks = [(row, cell.value or 0.0, cell.ranks) for row, cell in cells if cell.ranks]
    with_ranks.sort(key=lambda entry: (sum(entry[2]), -entry[1]))
    means = sorted((mean for _, mean, _ in with_ranks), reverse=True)
    rows = [
        {
            "name": row.title,
            "kind": row.group or "ranked",
            "low": low - 0.4,
            "high": high + 0.4,
            "value": means.index(mean) + 1,
            "says": f"{row.title}: {mean:.2f}, rank {low} to {high}",
        }
        for row, mean, (low, high) in with_ranks
    ]
    first = sum(low == 1 for *_, (low, _) in with_ranks)
    last = sum(high == len(with_ranks) for *_, (_, high) in with_ranks)
    return draw(
        "rows",
        rows,
        key=f"ranks-{slug(table.key)}",
        title=f"Ranks by {table.columns[ranked[-1]].title}: {table.title}",
        caption="The mark is the place by the mean; the bar spans the ranks that the seeds leave open.",
        says=f"{first} of {len(with_ranks)} systems may be first, and {last} may be last.",
        x_title="rank",
        kinds=list(dict.fromkeys(row["kind"] for row in rows)),
        reverse=True,
        nice=False,
    )


def geometry_figure(results: Sequence[ResultFile]) -> Chart | None:
    """Returns a picture of alignment against uniformity of every system, None if neither was measured."""
    points: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for result in results:
        values = {
            score.metric: score.value
            for score in selected_scores(result)
            if score.metric in QUANTITIES and score.setting == "all" and not score.task.endswith("-dev")
        }
        if len(values) == len(QUANTITIES):
            run = result.run
            label = system_label(run.method, run.variant, run.backbone)
            points.setdefault((label, run.backbone), []).append((values["uniformity"], values["alignment"]))
    if not points:
        return None
    rows: list[Row] = []
    for (label, backbone), shapes in points.items():
        x, y = (statistics.fmean(values) for values in zip(*shapes, strict=True))
        says = f"{label}: alignment {y:.3f}, uniformity {x:.3f}"
        at = {"x": round(x, 4), "y": round(y, 4)}
        rows.append({"name": label.partition("@")[0], "kind": backbone or "words", **at, "says": says})
    spread, close = (min(rows, key=lambda row: row[axis])["name"] for axis in ("x", "y"))
    return draw(
        "points",
        named(rows),
        key="geometry",
        title="Alignment and uniformity",
        caption="Of unit vectors of STS-B test, a point for each system, mean over seeds. Lower is "
        "better in both; low alignment alone says little, as a constant encoder has 0 (Wang and Isola).",
        says=f"{spread} spreads vectors most, {close} keeps similar pairs closest.",
        x_title="uniformity (lower is more spread)",
        y_title="alignment (lower is closer)",
    )


def named(rows: Sequence[Row]) -> list[Row]:
    """Returns the rows with a `label` for each point whose name overlaps no point and no earlier name."""
    spans = [[row[axis] for row in rows] for axis in ("x", "y")]
    sizes = [(max(span) - min(span)) or 1.0 for span in spans]
    positions = [
        tuple(v / size for v, size in zip(at, sizes, strict=True)) for at in zip(*spans, strict=True)
    ]
    shown: list[Row] = []
    taken = list(positions)
    for row, (x, y) in zip(rows, positions, strict=True):
        free = not any(
            -0.01 <= a - x <= LABEL_ROOM[0] and abs(b - y) < LABEL_ROOM[1]
            for a, b in taken
            if (a, b) != (x, y)
        )
        if free:
            taken.append((x + LABEL_ROOM[0] / 2, y))
        shown.append({**row, "label": row["name"]} if free else row)
    return shown
