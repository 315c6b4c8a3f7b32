"""One cell: the scores of its seeds next to the value the paper reported, and what is known of that value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from harness.facts import statistics
from harness.facts.evidence.others import Others, ReportedNumber
from harness.facts.price import NO_PRICE, Price
from harness.facts.run_choice import RunChoice
from harness.facts.spec import ColumnSpec, Statistic, TableSpec
from harness.facts.statistics import KnownSd
from harness.facts.verdicts import judge
from harness.report.contributed import Contributed
from harness.report.tables.model import Cell
from harness.report.tables.seeds import ScoreIndex, SeedScore
from harness.report.verification import Plan, Verification, verify
from harness.results.contributions import Contribution, Level


@dataclass(frozen=True)
class Yardstick:
    """What a cell is measured against; `published`, `scale` and `decimals` are those of the table's display.

    published: what the paper reported, None if nothing; remark: a misprint in it. reported: the same number
    as evidence is compared with it, and others: what others measured of it; both None where a number is no
    score. known, planned, price: as in `verify`. no_verdict: why our seeds do not say whether the reported
    number holds, empty if they do. fixed: the seeds that the cell is about, if it is not about all.
    """

    published: float | None
    remark: str
    scale: float
    decimals: int
    reported: ReportedNumber | None = None
    others: Others | None = None
    known: KnownSd | None = None
    planned: KnownSd | None = None
    price: Price = NO_PRICE
    no_verdict: str = ""
    fixed: tuple[int, ...] = ()

    @property
    def points(self) -> float:
        """Points in a unit of display: one point is 0.01 in raw units."""
        return 100 / self.scale

    def verify(self, values: Sequence[float], dev: Sequence[float]) -> Verification | None:
        """Returns what is known of the reported number with our seeds in display units, None if none is.

        Where it is not for our seeds to judge, what is known is that of others.
        """
        if self.reported is None or self.others is None:
            return None
        found = verify(
            self.reported,
            self.others,
            values=[] if self.no_verdict else [value * self.points for value in values],
            dev=[] if self.no_verdict else dev,
            known=self.known,
            planned=self.planned,
            price=self.price,
        )
        if self.no_verdict:
            return replace(found, plan=None)
        if self.fixed and found.plan is not None:
            seeds = ", ".join(map(str, self.fixed))
            return replace(
                found, plan=Plan(None, None, None, "", f"no other seed enters: it is about seed {seeds}")
            )
        return found

    def contributed(self, level: Level, seeds: Sequence[SeedScore], by: Mapping[str, str]) -> Contributed:
        """Returns what others contributed at one level; scores that were not checked are not judged."""
        values = [100 * score.value for score in seeds]
        answer = None
        if (
            level != "scores only"
            and self.reported is not None
            and self.others is not None
            and not self.no_verdict
        ):
            answer = judge(
                values,
                self.reported.value,
                origin=self.reported.origin,
                known=self.known,
                rounding=self.reported.rounding,
            )
        keys = tuple(score.key for score in seeds)
        return Contributed(level, tuple(values), keys, tuple(by[key] for key in keys), answer)


def build_cell(
    seeds: Sequence[SeedScore], statistic: Statistic, against: Yardstick, *, wanted: bool = True
) -> Cell:
    """Returns the cell that `seeds` make; without seeds it holds the published value and what is known of it.

    wanted: a run of ours is meant to fill the cell.
    """
    if not seeds:
        cell = Cell(
            published=against.published, note=against.remark, wanted=wanted, no_verdict=against.no_verdict
        )
        known = None if statistic == "sd" else against.verify([], [])
        return _judged(cell, replace(known, plan=None) if known and not wanted else known)
    values = [score.value * against.scale for score in seeds]
    cell = Cell(
        value=statistics.mean(values),
        sd=statistics.sample_sd(values),
        n=len(values),
        published=against.published,
        runs=tuple(score.key for score in seeds),
        note=against.remark,
        no_verdict=against.no_verdict,
        values=tuple(values),
    )
    best = max(range(len(seeds)), key=lambda index: seeds[index].dev)
    if statistic == "pairs":
        return _pairs_cell(cell, seeds)
    if statistic == "sd":
        return _sd_cell(cell, against)
    known = against.verify(values, [100 * score.dev for score in seeds])
    if statistic == "best-by-dev":
        return _best_cell(cell, best, known)
    return _judged(replace(cell, best_by_dev=values[best]), known)


def _judged(cell: Cell, known: Verification | None) -> Cell:
    """Returns the cell with what is known of its published value."""
    if known is None:
        return cell
    plan = known.plan
    more = plan.more if plan is not None and plan.seeds is not None else None
    return replace(cell, verdict=known.verdict, evidence=known, more=more)


def _best_cell(cell: Cell, best: int, known: Verification | None) -> Cell:
    """Returns the cell of the seed that is best on dev; the verdict is that of all seeds."""
    value = cell.values[best]
    picked = replace(cell, value=value, sd=None, n=1, runs=(cell.runs[best],), values=(value,))
    return _judged(picked, known)


def _pairs_cell(cell: Cell, seeds: Sequence[SeedScore]) -> Cell:
    """Returns the size of the test set, which is the reported one or not."""
    return _as_reported(replace(cell, value=float(seeds[0].pairs), sd=None, values=()))


def setting_cell(value: float, against: Yardstick) -> Cell:
    """Returns a setting of the recipe, which is the reported one or not."""
    return _as_reported(Cell(value=value, published=against.published, note=against.remark))


def _as_reported(cell: Cell) -> Cell:
    """Returns a cell that is no score, with whether its value is the published one."""
    if cell.value is None or cell.published is None:
        return cell
    return replace(cell, as_reported=math.isclose(cell.value, cell.published, rel_tol=1e-9))


def _sd_cell(cell: Cell, against: Yardstick) -> Cell:
    """Returns the sd over seeds, its 90 % chi-square interval as a note; it is not a score: no verdict."""
    if cell.sd is None:
        note = "a standard deviation needs two seeds"
        return replace(build_cell([], "sd", against), runs=cell.runs, note=note)
    shown = replace(cell, value=cell.sd, sd=None)
    if cell.published is None:
        return shown
    low, high = statistics.sd_interval(cell.sd, cell.n, confidence=0.9)
    note = (
        f"90 % interval of our standard deviation: {low:.{against.decimals}f} to {high:.{against.decimals}f}"
    )
    return replace(shown, note="; ".join(filter(None, [cell.note, note])))


def contributed_scores(
    spec: TableSpec,
    column: ColumnSpec,
    choice: RunChoice,
    against: Yardstick,
    index: ScoreIndex,
    contributions: Mapping[str, Contribution],
) -> tuple[Contributed, ...]:
    """Returns what others contributed of a cell, by how far it was checked: as far as each of its parts."""
    levels: tuple[Level, ...] = get_args(Level)
    groups: dict[Level, list[SeedScore]] = {level: [] for level in reversed(levels)}
    parts = _parts(spec, column)
    for seed in index.seeds(spec, column, choice):
        checked = contributions[seed.key].checked
        found = {checked.level(part.task or "", part.selection) for part in parts}
        groups[next(level for level in levels if level in found)].append(seed)
    by = {key: one.by for key, one in contributions.items()}
    return tuple(against.contributed(level, seeds, by) for level, seeds in groups.items() if seeds)


def _parts(spec: TableSpec, column: ColumnSpec) -> list[ColumnSpec]:
    """Returns the columns of single tasks that a column is the mean of, or the column itself."""
    if not column.mean_of:
        return [column]
    return [part for key in column.mean_of for part in _parts(spec, spec.column(key))]
