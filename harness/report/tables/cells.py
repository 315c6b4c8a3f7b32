"""One cell: the scores of its seeds next to the reported value, and the evidence on that value."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from harness.errors import InputError
from harness.evidence import statistics
from harness.evidence.others import KnownNumber, known_number
from harness.evidence.published import PublishedRow
from harness.evidence.settling import Plan
from harness.evidence.spec import ColumnSpec, RowSpec, RunChoice, TableSpec
from harness.report.tables.evidence import Evidence, SeedScore, in_declared_order, seeds_of
from harness.report.tables.model import Cell
from harness.report.verification import Verification, verify


@dataclass(frozen=True)
class CellContext:
    """The place of a cell in its table, with its inputs."""

    spec: TableSpec
    row: RowSpec
    column: ColumnSpec
    evidence: Evidence

    @cached_property
    def choice(self) -> RunChoice | None:
        """The runs of the cell, None if it has none."""
        return self.spec.choice(self.row, self.column)

    @property
    def published_row(self) -> PublishedRow | None:
        """The published row of the cell's number."""
        exception = self.row.cells.get(self.column.key)
        return published_row(
            self.spec, (exception.published if exception else None) or self.row.published, self.evidence
        )

    @property
    def published_column(self) -> str:
        """The name of the column in the published table."""
        return self.column.published or self.column.key

    @cached_property
    def number(self) -> KnownNumber | None:
        """The published number with independent results, None if no score is reported."""
        line, evidence = self.published_row, self.evidence
        if line is None or self.spec.published is None or self.column.unit == "plain":
            return None
        return known_number(
            evidence.published,
            evidence.ledger,
            table=self.spec.published,
            row=line.key,
            column=self.published_column,
            deterministic=self.row.deterministic,
        )

    @property
    def declared_seeds(self) -> Sequence[int]:
        """The seeds that the cell's runs declare, in their order; none without runs."""
        if self.choice is None:
            return ()
        declared = self.evidence.seeds.get(self.choice.system, ())
        return [seed for seed in declared if not self.choice.seeds or seed in self.choice.seeds]

    @property
    def no_verdict(self) -> str:
        """Reason why our seeds do not judge the reported number, from row, column or recipe, or empty."""
        if self.column.unit == "plain":
            return ""
        recipe = self.evidence.settings.get(self.choice.system, {}) if self.choice is not None else {}
        return self.row.no_verdict or self.column.no_verdict or str(recipe.get("no_verdict", ""))


def published_row(spec: TableSpec, key: str | None, evidence: Evidence) -> PublishedRow | None:
    """Returns the published row of this key in the published table of a spec."""
    if key is None or spec.published is None:
        return None
    return evidence.published.row(spec.published, key)


def build_cell(context: CellContext) -> Cell:
    """Returns a cell; without runs it has the published value and its evidence.

    Errors: InputError if runs are ambiguous, or a setting that the cell shows is not known.
    """
    cell = _published_cell(context)
    if context.column.recipe is not None and context.choice is not None and context.evidence.settings:
        return _as_reported(cell, _setting(context, context.column.recipe, context.choice))
    statistic = context.spec.statistic(context.row, context.column)
    seeds = seeds_of(context.evidence.scores, context.spec, context.column, context.choice)
    judging, ready = in_declared_order([] if context.no_verdict else seeds, context.declared_seeds)
    if statistic == "pairs":
        return _as_reported(_with_runs(cell, seeds), float(seeds[0].pairs)) if seeds else cell
    if statistic == "sd":
        full = _with_seeds(context, cell, seeds) if len(seeds) > 1 else cell
        return replace(full, value=full.sd, sd=None)
    known = _verification(context, judging, ready)
    if known is not None:
        more = known.plan.more if known.plan and known.verdict == "inconclusive" else None
        cell = replace(cell, verdict=known.verdict, evidence=known, more=more)
    if not seeds:
        return cell
    best = max(seeds, key=lambda seed: seed.dev)
    if statistic == "best-by-dev":
        return _with_seeds(context, cell, [best])
    return replace(_with_seeds(context, cell, seeds), best_by_dev=best.value * context.spec.scale)


def _published_cell(context: CellContext) -> Cell:
    is_wanted = context.choice is not None and context.choice.system not in context.spec.unranked
    cell = Cell(wanted=is_wanted, no_verdict=context.no_verdict)
    line = context.published_row
    if line is None or context.spec.published is None:
        return cell
    table = context.evidence.published.table(context.spec.published)
    if context.published_column not in table.columns:
        return cell
    value = table.compared(line, context.published_column)
    remark = table.remark(line, context.published_column)
    return replace(cell, published=value, note=remark)


def _with_runs(cell: Cell, seeds: Sequence[SeedScore]) -> Cell:
    return replace(cell, n=len(seeds), runs=tuple(seed.run.key for seed in seeds))


def _with_seeds(context: CellContext, cell: Cell, seeds: Sequence[SeedScore]) -> Cell:
    values = tuple(seed.value * context.spec.scale for seed in seeds)
    mean, sd = statistics.mean(values), statistics.sample_sd(values)
    return replace(_with_runs(cell, seeds), value=mean, sd=sd, values=values)


def _setting(context: CellContext, setting: str, choice: RunChoice) -> float:
    """Returns a number of a system's recipe. Errors: InputError if it has no such setting."""
    value: Any = context.evidence.settings.get(choice.system)
    for name in setting.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(
            f"table {context.spec.key}: {choice.system} has {value!r} at {setting} of its recipe; correct "
            f"the column's `recipe`"
        )
    return float(value)


def _as_reported(cell: Cell, value: float) -> Cell:
    same = None if cell.published is None else math.isclose(value, cell.published, rel_tol=1e-9)
    return replace(cell, value=value, as_reported=same)


def _verification(context: CellContext, judging: Sequence[SeedScore], ready: int) -> Verification | None:
    """Returns the verification of the reported number with our seeds, None if none is reported.

    judging, ready: the seeds that judge it, as of `in_declared_order`; where it is not for our seeds to
    judge, there are none, and what is known is what others measured.
    """
    number, choice, evidence = context.number, context.choice, context.evidence
    if number is None:
        return None
    verification = verify(
        number.reported,
        number.others,
        values=[100 * seed.value for seed in judging],
        dev=[100 * seed.dev for seed in judging],
        known=number.sd,
        in_order=ready,
        planned=number.planned,
        price=evidence.prices.get((choice.system, choice.backbone)) if choice else None,
    )
    if context.no_verdict or choice is None:
        return replace(verification, plan=None)
    if choice.seeds and verification.plan is not None:
        seed = ", ".join(map(str, choice.seeds))
        return replace(verification, plan=Plan(why=f"no other seed enters: it is about seed {seed}"))
    return verification
