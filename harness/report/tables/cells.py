"""One cell: the scores of its seeds next to the value the paper reported, and what is known of that value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

from harness.errors import InputError
from harness.facts import statistics
from harness.facts.evidence.others import (
    ReportedNumber,
    backbone_sd,
    known_sd,
    measurable,
    nothing_known,
    others_of,
    reported_number,
)
from harness.facts.price import NO_PRICE
from harness.facts.published import PublishedRow
from harness.facts.run_choice import RunChoice
from harness.facts.spec import ColumnSpec, RowSpec, TableSpec
from harness.facts.statistics import KnownSd
from harness.facts.verdicts import judge
from harness.report.contributed import Contributed
from harness.report.tables.evidence import Evidence, SeedScore, seeds_of
from harness.report.tables.model import Cell
from harness.report.verification import Plan, Verification, verify
from harness.results.contributions import Level

EXACT = KnownSd(0.0, 0)
"""The standard deviation of a deterministic system."""
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class Place:
    """The place of a cell in its table, with what its value rests on."""

    spec: TableSpec
    row: RowSpec
    column: ColumnSpec
    evidence: Evidence

    @cached_property
    def choice(self) -> RunChoice | None:
        """The runs that are meant to fill the cell, None if none are."""
        return self.spec.choice(self.row, self.column)

    @property
    def published_row(self) -> PublishedRow | None:
        """The published row whose number the cell has."""
        own = self.row.cells.get(self.column.key)
        return published_row(self.spec, (own.published if own else None) or self.row.published, self.evidence)

    @property
    def published_column(self) -> str:
        """The name of the column in the published table."""
        return self.column.published or self.column.key

    @cached_property
    def reported(self) -> ReportedNumber | None:
        """The published number as evidence is compared with it, None where no score is reported."""
        line, published = self.published_row, self.evidence.published
        if line is None or self.spec.published is None or self.column.unit == "plain":
            return None
        where = {"table": self.spec.published, "row": line.key, "column": self.published_column}
        return reported_number(published, self.evidence.ledger, **where)

    @cached_property
    def known(self) -> KnownSd | None:
        """The standard deviation of the cell's system that is known without our seeds."""
        if self.row.deterministic:
            return EXACT
        told = self.reported
        if told is None or not measurable(self.evidence.published, told.table, told.column):
            return None
        return known_sd(self.evidence.ledger, told.row, told.column)

    @property
    def no_verdict(self) -> str:
        """Why our seeds do not judge the reported number: by row, column or recipe; empty if they do."""
        if self.column.unit == "plain":
            return ""
        recipe = self.evidence.settings.get(self.choice.system, {}) if self.choice is not None else {}
        return self.row.no_verdict or self.column.no_verdict or str(recipe.get("no_verdict", ""))


def published_row(spec: TableSpec, key: str | None, evidence: Evidence) -> PublishedRow | None:
    """Returns the published row of this key in the published table of a spec."""
    if key is None or spec.published is None:
        return None
    return evidence.published.row(spec.published, key)


def build_cell(place: Place) -> Cell:
    """Returns a cell; without runs it holds the published value and what is known of it.

    Errors: InputError if runs are ambiguous, or a setting that the cell shows is not known.
    """
    cell = _published_cell(place)
    if place.column.recipe is not None and place.choice is not None and place.evidence.settings:
        return _as_reported(replace(cell, value=_setting(place, place.column.recipe, place.choice)))
    statistic = place.spec.statistic(place.row, place.column)
    seeds = seeds_of(place.evidence.scores, place.spec, place.column, place.choice)
    if statistic == "pairs":
        found = replace(cell, n=len(seeds), runs=tuple(seed.run.key for seed in seeds))
        return _as_reported(replace(found, value=float(seeds[0].pairs))) if seeds else cell
    if statistic == "sd":
        return _sd_cell(place, cell, seeds)
    cell = replace(cell, contributed=_contributed(place))
    known = _verification(place, seeds)
    if known is not None:
        more = None if known.plan is None else known.plan.more
        evidence = replace(known, contributed=cell.contributed)
        cell = replace(cell, verdict=known.verdict, evidence=evidence, more=more)
    if not seeds:
        return cell
    best = max(seeds, key=lambda seed: seed.dev)
    if statistic == "best-by-dev":
        return _with_seeds(place, cell, [best])
    return replace(_with_seeds(place, cell, seeds), best_by_dev=best.value * place.spec.scale)


def _published_cell(place: Place) -> Cell:
    """Returns the cell of a place before any run."""
    cell = Cell(wanted=place.choice is not None, no_verdict=place.no_verdict)
    line = place.published_row
    if line is None or place.spec.published is None:
        return cell
    table = place.evidence.published.table(place.spec.published)
    if place.published_column not in table.columns:
        return cell
    value = table.compared(line, place.published_column)
    remark = table.remark(line, place.published_column)
    return replace(cell, published=value, note=remark, work="" if value is None else line.work or "")


def _with_seeds(place: Place, cell: Cell, seeds: Sequence[SeedScore]) -> Cell:
    """Returns the cell with the mean and the standard deviation of seeds."""
    values = tuple(seed.value * place.spec.scale for seed in seeds)
    return replace(
        cell,
        value=statistics.mean(values),
        sd=statistics.sample_sd(values),
        n=len(values),
        runs=tuple(seed.run.key for seed in seeds),
        values=values,
    )


def _sd_cell(place: Place, cell: Cell, seeds: Sequence[SeedScore]) -> Cell:
    """Returns the sd over seeds, its 90 % chi-square interval as a note; it is not a score: no verdict."""
    if not seeds:
        return cell
    full = _with_seeds(place, cell, seeds)
    if full.sd is None:
        return replace(cell, runs=full.runs, note="a standard deviation needs two seeds")
    shown = replace(full, value=full.sd, sd=None)
    if cell.published is None:
        return shown
    decimals = place.spec.decimals
    low, high = statistics.sd_interval(full.sd, full.n, confidence=0.9)
    note = f"90 % interval of our standard deviation: {low:.{decimals}f} to {high:.{decimals}f}"
    return replace(shown, note="; ".join(filter(None, [cell.note, note])))


def _setting(place: Place, setting: str, choice: RunChoice) -> float:
    """Returns a number of a system's recipe. Errors: InputError if it has no such setting."""
    found: Any = place.evidence.settings.get(choice.system)
    for name in setting.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise InputError(
            f"table {place.spec.key}: {choice.system} has {found!r} at {setting} of its recipe, expected a "
            "number; correct the column's `recipe`"
        )
    return float(found)


def _as_reported(cell: Cell) -> Cell:
    """Returns a cell that is no score, with whether its value is the published one."""
    if cell.value is None or cell.published is None:
        return cell
    return replace(cell, as_reported=math.isclose(cell.value, cell.published, rel_tol=1e-9))


def _verification(place: Place, seeds: Sequence[SeedScore]) -> Verification | None:
    """Returns what is known of the reported number with our seeds, None if none is reported.

    Where it is not for our seeds to judge, what is known is that of others.
    """
    reported, choice, evidence = place.reported, place.choice, place.evidence
    if reported is None:
        return None
    judging = [] if place.no_verdict else seeds
    compared = measurable(evidence.published, reported.table, reported.column)
    backbone = reported.row.partition("@")[2]
    found = verify(
        reported,
        others_of(evidence.ledger, reported) if compared else nothing_known(),
        values=[seed.value * place.spec.scale * (100 / place.spec.scale) for seed in judging],
        dev=[100 * seed.dev for seed in judging],
        known=place.known,
        planned=backbone_sd(evidence.ledger, backbone, reported.column) if compared else None,
        price=evidence.prices.get((choice.system, choice.backbone), NO_PRICE) if choice else NO_PRICE,
    )
    if place.no_verdict or choice is None:
        return replace(found, plan=None)
    if choice.seeds and found.plan is not None:
        seed = ", ".join(map(str, choice.seeds))
        return replace(found, plan=Plan(why=f"no other seed enters: it is about seed {seed}"))
    return found


def _contributed(place: Place) -> tuple[Contributed, ...]:
    """Returns what others contributed of a cell, by how far it was checked: as far as each of its parts."""
    contributions, parts = place.evidence.contributed, _parts(place.spec, place.column)

    def level_of(seed: SeedScore) -> Level:
        checked = contributions[seed.run.key].checked
        return min((checked.level(part.task or "", part.selection) for part in parts), key=LEVELS.index)

    seeds = seeds_of(place.evidence.contributed_scores, place.spec, place.column, place.choice)
    groups = [(level, [seed for seed in seeds if level_of(seed) == level]) for level in reversed(LEVELS)]
    return tuple(_group(place, level, some) for level, some in groups if some)


def _group(place: Place, level: Level, seeds: Sequence[SeedScore]) -> Contributed:
    """Returns what others contributed at one level; scores that were not checked are not judged."""
    reported, values = place.reported, tuple(100 * seed.value for seed in seeds)
    answer = None
    if level != "scores only" and reported is not None and not place.no_verdict:
        answer = judge(
            values,
            reported.value,
            origin=reported.origin,
            known=place.known,
            rounding=reported.rounding,
        )
    keys = tuple(seed.run.key for seed in seeds)
    by = tuple(place.evidence.contributed[key].by for key in keys)
    return Contributed(level, values, keys, by, answer)


def _parts(spec: TableSpec, column: ColumnSpec) -> list[ColumnSpec]:
    """Returns the columns of single tasks that a column is the mean of, or the column itself."""
    if not column.mean_of:
        return [column]
    return [part for key in column.mean_of for part in _parts(spec, spec.column(key))]
