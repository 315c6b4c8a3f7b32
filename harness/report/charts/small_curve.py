"""The training curve of one system, small and written by hand: a plan of many systems has one of each."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import escape

from harness.report.charts.curves import CurvePoint, Summary, seed_lines, summarise

WIDTH, HEIGHT = 360, 170
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 10, 34
UNIT = "STS-B dev Spearman × 100"


def small_curve(points: Sequence[CurvePoint], *, key: str, title: str) -> str:
    """Returns the dev score against training steps as SVG: mean, band of one sd, thin lines for seeds.

    `key` starts every id of the element. Equal points give equal bytes.
    """
    mean = summarise(points, lambda point: 100 * point.dev)
    seeds = seed_lines(points, lambda point: 100 * point.dev)
    low = min(value for line in seeds.values() for _, value in line)
    high = max(value for line in seeds.values() for _, value in line)
    steps = mean[0].step, mean[-1].step

    def at(step: float, value: float) -> str:
        right, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        x = LEFT + right * (step - steps[0]) / max(1, steps[1] - steps[0])
        y = TOP + down * (high - min(max(value, low), high)) / ((high - low) or 1)
        return f"{x:.1f},{y:.1f}"

    band = [at(p.step, p.mean + p.sd) for p in mean] + [at(p.step, p.mean - p.sd) for p in reversed(mean)]
    thin = "".join(
        f'<polyline points="{" ".join(at(*point) for point in line)}" class="seed"/>'
        for line in seeds.values()
    )
    line = " ".join(at(point.step, point.mean) for point in mean)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" role="img" '
        f'class="small-curve" aria-labelledby="{key}-title {key}-desc">'
        f'<title id="{key}-title">{escape(title)}: {UNIT} during training</title>'
        f'<desc id="{key}-desc">{escape(_words(mean))}</desc>{_axes(low, high, steps)}'
        f'<polygon points="{" ".join(band)}" class="band"/>{thin}'
        f'<polyline points="{line}" class="mean"/></svg>'
    )


def _axes(low: float, high: float, steps: tuple[int, int]) -> str:
    bottom = HEIGHT - BOTTOM
    return (
        f'<path d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}" class="axis"/>'
        f'<text x="{LEFT - 4}" y="{TOP + 8}" text-anchor="end">{high:.1f}</text>'
        f'<text x="{LEFT - 4}" y="{bottom}" text-anchor="end">{low:.1f}</text>'
        f'<text x="{LEFT}" y="{bottom + 14}">{steps[0]}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{bottom + 14}" text-anchor="end">{steps[1]}</text>'
        f'<text x="{LEFT}" y="{HEIGHT - 5}">{UNIT} against training steps</text>'
    )


def _words(mean: Sequence[Summary]) -> str:
    first, last = mean[0], mean[-1]
    return f"{first.mean:.2f} at step {first.step}, {last.mean:.2f} at step {last.step}."
