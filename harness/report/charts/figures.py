"""The report's charts as inline SVG: training curves, geometry, and seeds next to published values."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from harness.errors import InputError
from harness.report.charts.curves import CurvePoint, Reading, Summary, seed_lines, summarise
from harness.report.charts.palette import PALETTE, SERIES
from harness.report.charts.small_curve import small_curve
from harness.report.charts.svg import WIDTH, drawing, to_svg
from harness.report.runs import RunDetail

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curves = Mapping[str, Sequence[CurvePoint]]

MARKERS = ("o", "s", "^", "D", "v")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 1)))
TOGETHER = 5
"""The most systems that share one plot; more get a panel each, with the others in grey behind."""


class _Quantity(NamedTuple):
    label: str
    reading: Reading


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


DEV = _Quantity("STS-B dev Spearman × 100", lambda point: _percent(point.dev))
ALIGNMENT = _Quantity("Alignment", lambda point: point.alignment)
UNIFORMITY = _Quantity("Uniformity", lambda point: point.uniformity)
GEOMETRY = {"alignment": ALIGNMENT, "uniformity": UNIFORMITY}


def dev_curves(curves: Curves, *, key: str = "dev-curves") -> str:
    """Returns the dev score of every system against training steps.

    The thick line is the mean over seeds, the band ± one standard deviation, thin lines are seeds.
    Errors: InputError if there is no point to draw, or matplotlib is missing.
    """
    return _draw(curves, (DEV,), key=key, title="STS-B dev score during training")


def system_curves(runs: Iterable[RunDetail]) -> dict[str, str]:
    """Returns the small curve of each system by its name; systems that do not train are left out."""
    points: dict[str, list[CurvePoint]] = {}
    anchors: dict[str, str] = {}
    for run in runs:
        if len(run.curve) > 1:
            points.setdefault(run.system, []).extend(run.curve)
            anchors[run.system] = run.anchor
    return {
        system: small_curve(found, key=f"{anchors[system]}-curve", title=system)
        for system, found in points.items()
    }


def geometry(
    curves: Curves, *, quantities: Sequence[str] = ("alignment", "uniformity"), key: str = "geometry"
) -> str:
    """Returns alignment and uniformity of every system against training steps, drawn as `dev_curves`."""
    chosen = tuple(GEOMETRY[name] for name in quantities)
    title = " and ".join(quantities).capitalize() + " during training"
    return _draw(curves, chosen, key=key, title=title)


def seed_strip(
    values: Mapping[str, Sequence[float]],
    published: Mapping[str, float],
    *,
    others: Mapping[str, Sequence[float]] | None = None,
    label: str = "Spearman × 100",
    key: str = "seed-strip",
) -> str:
    """Returns one line per system: a dot per seed, our mean ± sd, the published value, what others reported.

    All numbers are in display scale. `published` and `others` may lack systems; one that nobody ran keeps
    its line if something is reported of it.
    Errors: InputError if there is no number to draw, or matplotlib is missing.
    """
    shown = {name: list(seeds) for name, seeds in values.items() if seeds or name in published}
    if not shown:
        raise InputError("a strip plot needs a seed or a published value, got none; evaluate a run first")
    with drawing(WIDTH, 1.0 + 0.36 * len(shown)) as figure:
        axes = figure.add_subplot()
        for line, (name, seeds) in enumerate(shown.items()):
            _strip(axes, line, seeds, published.get(name), (others or {}).get(name, ()))
        axes.set_yticks(range(len(shown)), list(shown), color=PALETTE["ink"].light)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(label)
        marks = dict(reversed(list(zip(*reversed(axes.get_legend_handles_labels()), strict=True))))
        figure.legend(
            marks.values(), marks.keys(), loc="outside upper left", ncols=3, frameon=False, fontsize=8
        )
        described = [_strip_words(name, seeds, published.get(name)) for name, seeds in shown.items()]
        return to_svg(figure, key=key, title="Seeds and published values", description=" ".join(described))


def _strip(
    axes: Axes, line: int, seeds: Sequence[float], published: float | None, others: Sequence[float]
) -> None:
    axes.axhline(line, color=PALETTE["rule"].light, linewidth=0.5, zorder=0)
    if seeds:
        _strip_seeds(axes, line, seeds)
    if others:
        grey = PALETTE["muted"].light
        axes.plot(
            list(others), [line] * len(others), "x", markersize=4.5, color=grey, zorder=5, label="others"
        )
    if published is not None:
        axes.plot(
            [published], [line], "D", markersize=6, zorder=6, label="published",
            color=PALETTE["series-2"].light, markeredgecolor=PALETTE["paper"].light, markeredgewidth=0.7,
        )  # fmt: skip


def _strip_seeds(axes: Axes, line: int, seeds: Sequence[float]) -> None:
    mean, blue = statistics.fmean(seeds), PALETTE["series-1"].light
    if len(seeds) > 1:
        sd = statistics.stdev(seeds)
        axes.plot(
            [mean - sd, mean + sd], [line, line], color=blue, linewidth=1.6, zorder=2, label="mean ± sd"
        )
    axes.plot([mean, mean], [line - 0.24, line + 0.24], color=blue, linewidth=1.6, zorder=3)
    axes.plot(
        seeds, [line] * len(seeds), "o", markersize=4.5, markeredgewidth=0.9, zorder=4, label="seed",
        markerfacecolor=PALETTE["paper"].light, markeredgecolor=blue,
    )  # fmt: skip


def _strip_words(name: str, seeds: Sequence[float], published: float | None) -> str:
    if not seeds:
        return f"{name}: published {published:.2f}, not run."
    spread = f" ± {statistics.stdev(seeds):.2f}" if len(seeds) > 1 else ""
    beside = "" if published is None else f"; published {published:.2f}"
    return f"{name}: {statistics.fmean(seeds):.2f}{spread} over {_seeds(len(seeds))}{beside}."


def _seeds(count: int) -> str:
    return f"{count} seed" if count == 1 else f"{count} seeds"


def _draw(curves: Curves, quantities: Sequence[_Quantity], *, key: str, title: str) -> str:
    summaries = [{name: summarise(points, q.reading) for name, points in curves.items()} for q in quantities]
    systems = [name for name in curves if any(summary[name] for summary in summaries)]
    if not systems:
        raise InputError(f"{title}: no evaluation was recorded, expected a point; train with evaluations on")
    overlaid = len(systems) <= TOGETHER
    rows, columns = (1, len(quantities)) if overlaid else _grid(len(systems), len(quantities))
    with drawing(*_size(rows, overlaid)) as figure:
        grid = figure.subplots(
            rows, columns, squeeze=False, sharex=True, sharey=_shared(overlaid, quantities)
        )
        panels = list(grid.flat)
        for position, (quantity, summary) in enumerate(zip(quantities, summaries, strict=True)):
            if overlaid:
                label = len(systems) > 1 and quantity is quantities[-1]
                _overlay(panels[position], curves, summary, quantity, systems, label=label)
            else:
                _panels(panels[position :: len(quantities)], curves, summary, quantity, systems)
        for spare in [] if overlaid else panels[len(systems) * len(quantities) :]:
            spare.set_visible(False)
        if not overlaid and quantities[0] is DEV:
            figure.supylabel(DEV.label, fontsize=9, color=PALETTE["muted"].light)
        figure.supxlabel("Training steps", fontsize=9, color=PALETTE["muted"].light)
        return to_svg(figure, key=key, title=title, description=_curve_words(systems, quantities, summaries))


def _size(rows: int, overlaid: bool) -> tuple[float, float]:
    """Width and height in inches."""
    return WIDTH, 3.3 if overlaid else 0.5 + 1.2 * rows


def _shared(overlaid: bool, quantities: Sequence[_Quantity]) -> bool | Literal["col"]:
    if overlaid:
        return False
    return True if len(quantities) == 1 else "col"


def _grid(systems: int, quantities: int) -> tuple[int, int]:
    columns = 2 if quantities == 1 else quantities
    return math.ceil(systems * quantities / columns), columns


def _overlay(
    axes: Axes,
    curves: Curves,
    summary: dict[str, list[Summary]],
    quantity: _Quantity,
    systems: Sequence[str],
    *,
    label: bool,
) -> None:
    """All systems in one plot, distinct by colour, dash, marker and a label at the end of the line."""
    for index, name in enumerate(systems):
        if summary[name]:
            _system(axes, seed_lines(curves[name], quantity.reading), summary[name], style=index)
    axes.set_ylabel(quantity.label)
    axes.yaxis.grid(True, color=PALETTE["rule"].light, linewidth=0.5)
    if label:
        _label_ends(axes, summary, systems)


def _label_ends(axes: Axes, summary: dict[str, list[Summary]], systems: Sequence[str]) -> None:
    drawn = [name for name in systems if summary[name]]
    low, high = axes.get_ylim()
    ends = [summary[name][-1].mean for name in drawn]
    for name, end, height in zip(drawn, ends, moved_apart(ends, gap=(high - low) * 0.065), strict=True):
        colour = PALETTE[SERIES[systems.index(name) % len(SERIES)]].light
        axes.annotate(
            name, (summary[name][-1].step, end), (1.02, (height - low) / (high - low)),
            textcoords="axes fraction", va="center", color=colour, annotation_clip=False,
        )  # fmt: skip


def _panels(
    panels: Sequence[Axes],
    curves: Curves,
    summary: dict[str, list[Summary]],
    quantity: _Quantity,
    systems: Sequence[str],
) -> None:
    """One panel per system with the means of all others in grey behind it."""
    for axes, name in zip(panels, systems, strict=False):
        for other in systems:
            if other != name and summary[other]:
                steps, means, _ = zip(*summary[other], strict=True)
                axes.plot(steps, means, color=PALETTE["rule"].light, linewidth=0.8)
        if summary[name]:
            _system(axes, seed_lines(curves[name], quantity.reading), summary[name], style=0)
        axes.set_title(name, fontsize=9)
        axes.yaxis.grid(True, color=PALETTE["rule"].light, linewidth=0.4)
        if quantity is not DEV:
            axes.set_ylabel(quantity.label, fontsize=8)


def _system(
    axes: Axes, seeds: Mapping[int, Sequence[tuple[int, float]]], mean: Sequence[Summary], style: int
) -> None:
    colour = PALETTE[SERIES[style % len(SERIES)]].light
    for line in seeds.values():
        axes.plot(*zip(*line, strict=True), color=colour, linewidth=0.6, alpha=0.45)
    steps, means = [point.step for point in mean], [point.mean for point in mean]
    low, high = [p.mean - p.sd for p in mean], [p.mean + p.sd for p in mean]
    axes.fill_between(steps, low, high, color=colour, alpha=0.13, linewidth=0)
    axes.plot(
        steps, means, color=colour, linewidth=1.7, linestyle=DASHES[style % len(DASHES)],
        marker=MARKERS[style % len(MARKERS)], markersize=4, markevery=max(1, len(steps) // 6),
    )  # fmt: skip


def moved_apart(heights: Sequence[float], *, gap: float) -> list[float]:
    """Returns the heights moved apart to at least `gap`, order kept and each cluster centred where it was."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    clusters: list[list[int]] = []
    centres: list[float] = []
    for index in order:
        clusters.append([index])
        centres.append(heights[index])
        while (
            len(clusters) > 1
            and centres[-1] - centres[-2] < gap * (len(clusters[-1]) + len(clusters[-2])) / 2
        ):
            merged = clusters[-2] + clusters[-1]
            clusters[-2:] = [merged]
            centres[-2:] = [statistics.fmean(heights[i] for i in merged)]
    moved = [0.0] * len(heights)
    for members, centre in zip(clusters, centres, strict=True):
        for rank, index in enumerate(members):
            moved[index] = centre + gap * (rank - (len(members) - 1) / 2)
    return moved


def _curve_words(
    systems: Sequence[str], quantities: Sequence[_Quantity], summaries: Sequence[Mapping[str, list[Summary]]]
) -> str:
    sentences = []
    for quantity, summary in zip(quantities, summaries, strict=True):
        for name in (name for name in systems if summary[name]):
            first, last = summary[name][0], summary[name][-1]
            sentences.append(
                f"{name}, {quantity.label}: {first.mean:.2f} at step {first.step}, "
                f"{last.mean:.2f} at step {last.step}."
            )
    return " ".join(sentences)
