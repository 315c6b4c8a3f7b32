"""One cell: the scores of its seeds beside the value the paper printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.report import statistics
from harness.report.tables.model import Cell
from harness.report.tables.seeds import SeedScore
from harness.report.tables.spec import Statistic


@dataclass(frozen=True)
class Yardstick:
    """What a cell is measured against. Numbers are in display units.

    published: what the paper printed, None if nothing; remark: a misprint in it. known_sd: floor for the
    spread, 0 for a deterministic system, None if unknown.
    """

    published: float | None
    remark: str
    known_sd: float | None
    scale: float
    decimals: int

    @property
    def point(self) -> float:
        """One point: 0.01 in raw units."""
        return self.scale / 100

    @property
    def rounding(self) -> float:
        """Half a unit of the last printed digit."""
        return 0.5 * 10.0**-self.decimals


def build_cell(seeds: Sequence[SeedScore], statistic: Statistic, against: Yardstick) -> Cell:
    """Returns the cell that `seeds` make; without seeds it holds the published value alone."""
    if not seeds:
        return Cell(published=against.published, note=against.remark)
    values = [score.value * against.scale for score in seeds]
    cell = Cell(
        value=statistics.mean(values),
        sd=statistics.sample_sd(values),
        n=len(values),
        published=against.published,
        runs=tuple(score.key for score in seeds),
        note=against.remark,
        values=tuple(values),
    )
    best = max(range(len(seeds)), key=lambda index: seeds[index].dev)
    if statistic == "best-by-dev":
        return _best_cell(cell, values, best, against)
    cell = replace(cell, best_by_dev=values[best])
    if statistic == "pairs":
        return _pairs_cell(cell, seeds)
    if statistic == "sd":
        return _sd_cell(cell, against)
    return _judged(cell, values, against.known_sd, against)


def _judged(cell: Cell, values: Sequence[float], known_sd: float | None, against: Yardstick) -> Cell:
    """Returns the cell with the verdict on `values`."""
    judged = statistics.verdict(
        values, cell.published, point=against.point, known_sd=known_sd, rounding=against.rounding
    )
    return replace(
        cell,
        verdict=judged.verdict,
        delta=judged.delta,
        seeds_needed=judged.seeds_needed,
        place=None if cell.published is None else statistics.place(values, cell.published),
    )


def _best_cell(cell: Cell, values: Sequence[float], best: int, against: Yardstick) -> Cell:
    """Returns the cell of the seed that is best on dev: one run, judged by the spread of all seeds."""
    found = statistics.spread(values, against.known_sd)
    picked = replace(cell, value=values[best], sd=None, n=1, runs=(cell.runs[best],), values=(values[best],))
    judged = _judged(picked, [values[best]], found.sd if found else None, against)
    place = None if cell.published is None else statistics.place(values, cell.published)
    return replace(judged, place=place, seeds_needed=None)


def _pairs_cell(cell: Cell, seeds: Sequence[SeedScore]) -> Cell:
    """Returns the size of the test set; it agrees or differs exactly."""
    pairs = float(seeds[0].pairs)
    cell = replace(cell, values=())
    if cell.published is None:
        return replace(cell, value=pairs, sd=None, verdict="ours")
    delta = pairs - cell.published
    return replace(cell, value=pairs, sd=None, delta=delta, verdict="differs" if delta else "agrees")


def _sd_cell(cell: Cell, against: Yardstick) -> Cell:
    """Returns the sd over seeds; it agrees if the chi-square interval of ours covers the published one."""
    if cell.sd is None:
        return Cell(published=cell.published, runs=cell.runs, note="a standard deviation needs two seeds")
    shown = replace(cell, value=cell.sd, sd=None, best_by_dev=None)
    if cell.published is None:
        return replace(shown, verdict="ours")
    delta = cell.sd - cell.published
    low, high = statistics.sd_interval(cell.sd, cell.n)
    if low - against.rounding <= cell.published <= high + against.rounding:
        return replace(shown, delta=delta, verdict="agrees")
    return replace(shown, delta=delta, verdict="near" if abs(delta) <= against.point else "differs")
