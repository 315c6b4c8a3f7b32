"""Alignment against uniformity: one point a system, all in one plot."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.errors import InputError
from harness.report.charts.figures import MARKERS, moved_apart
from harness.report.charts.palette import PALETTE, SERIES
from harness.report.charts.svg import WIDTH, drawing, to_svg

ALIGNMENT = "Alignment: mean squared distance\nof similar pairs (lower is closer)"
UNIFORMITY = "Uniformity: log of the mean of exp(−2 d²) (lower is more spread)"


class Shape(NamedTuple):
    """Alignment and uniformity of one run's vectors, unit length; Source: Wang and Isola 2020."""

    alignment: float
    uniformity: float


def scatter(systems: Mapping[str, Sequence[Shape]], *, names: bool = True, key: str = "scatter") -> str:
    """Returns one point per system, the mean over its runs; `names` appear at the points, joined by a line.

    Errors: InputError if there is no system, or matplotlib is missing.
    """
    if not systems:
        raise InputError("a scatter plot needs a system with both numbers, got none; evaluate a run")
    means = {
        name: Shape(*(statistics.fmean(values) for values in zip(*shapes, strict=True)))
        for name, shapes in systems.items()
    }
    with drawing(WIDTH, 2.4 + (0.15 * len(means) if names else 1.4)) as figure:
        axes = figure.add_subplot()
        for index, shape in enumerate(means.values()):
            axes.plot(
                shape.uniformity, shape.alignment, MARKERS[index % len(MARKERS)], markersize=5,
                color=PALETTE[SERIES[index % len(SERIES)]].light,
            )  # fmt: skip
        if names:
            _name_points(axes, means)
        axes.grid(True, color=PALETTE["rule"].light, linewidth=0.4)
        axes.set_xlabel(UNIFORMITY)
        axes.set_ylabel(ALIGNMENT, fontsize=8)
        words = " ".join(
            f"{name}: alignment {shape.alignment:.3f}, uniformity {shape.uniformity:.3f}."
            for name, shape in means.items()
        )
        return to_svg(figure, key=key, title="Alignment and uniformity", description=words)


def within(heights: Sequence[float], low: float, high: float, *, gap: float) -> list[float]:
    """Returns heights that are `gap` apart moved between low and high, no further than that takes."""
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    moved = list(heights)
    for rank, index in enumerate(order):
        above = len(order) - 1 - rank
        moved[index] = max(low + rank * gap, min(high - above * gap, heights[index]))
    return moved


def _name_points(axes: object, means: Mapping[str, Shape]) -> None:
    """Draws names in a column at the right, each tied to its point, moved apart so that none is covered."""
    low, high = axes.get_ylim()  # type: ignore[attr-defined]
    gap = (high - low) / max(12, len(means) + 1)
    heights = within(moved_apart([shape.alignment for shape in means.values()], gap=gap), low, high, gap=gap)
    for index, ((name, shape), height) in enumerate(zip(means.items(), heights, strict=True)):
        colour = PALETTE[SERIES[index % len(SERIES)]].light
        axes.annotate(  # type: ignore[attr-defined]
            name, (shape.uniformity, shape.alignment), (1.02, (height - low) / (high - low)),
            textcoords="axes fraction", va="center", fontsize=7, color=colour, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": PALETTE["edge"].light},
        )  # fmt: skip
