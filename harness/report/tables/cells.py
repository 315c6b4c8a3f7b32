"""One cell: the scores of its seeds next to the reported value, and the evidence on that value."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from harness.errors import InputError
from harness.evidence import statistics
from harness.evidence.judged import Judged, judge_number
from harness.evidence.numbers import PublishedNumber
from harness.evidence.others import others_of
from harness.evidence.printed import PublishedRow
from harness.evidence.settling import Plan
from harness.evidence.spec import ColumnSpec, RowSpec, RunChoice, TableSpec
from harness.report.formats.number import Format
from harness.report.tables.evidence import Evidence, SeedScore, in_declared_order, seeds_of
from harness.report.tables.model import Cell


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

    @cached_property
    def number(self) -> PublishedNumber | None:
        """The published number of the cell, None if nothing is reported."""
        exception = self.row.cells.get(self.column.key)
        key = (exception.published if exception else None) or self.row.published
        if key is None or self.spec.published is None:
            return None
        column = self.column.published or self.column.key
        return self.evidence.published.number(self.spec.published, key, column)

    @property
    def format(self) -> Format:
        """The format of the cell's numbers."""
        return Format(self.spec.scale, self.spec.decimals, self.column.unit == "plain")

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
    """Returns the declared row of this key in the published table of a spec."""
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
        full = _with_seeds(cell, seeds) if len(seeds) > 1 else cell
        return replace(full, value=full.sd, sd=None)
    cell = replace(cell, judged=_judged(context, judging, ready))
    if not seeds:
        return cell
    best = max(seeds, key=lambda seed: seed.dev)
    if statistic == "best-by-dev":
        return _with_seeds(cell, [best])
    return replace(_with_seeds(cell, seeds), best_by_dev=100 * best.value)


def _published_cell(context: CellContext) -> Cell:
    is_wanted = context.choice is not None and context.choice.system not in context.spec.unranked
    number = context.number
    note = "" if number is None else misprint_words(number, context.format)
    return Cell(wanted=is_wanted, no_verdict=context.no_verdict, number=number, note=note)


def misprint_words(number: PublishedNumber, form: Format) -> str:
    """Returns the notes on misprints of a number, or an empty text."""
    texts = {
        "cell": "reported {0}, read as {1}: {2}",
        "average": "reported {0}, the reported cells average {1}: {2}",
    }
    return "; ".join(
        texts[each.kind].format(form.show(each.reported), form.show(each.recomputed), each.reason)
        for each in number.misprints
    )


def _with_runs(cell: Cell, seeds: Sequence[SeedScore]) -> Cell:
    return replace(cell, n=len(seeds), runs=tuple(seed.run.key for seed in seeds))


def _with_seeds(cell: Cell, seeds: Sequence[SeedScore]) -> Cell:
    values = tuple(100 * seed.value for seed in seeds)
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


def _judged(context: CellContext, judging: Sequence[SeedScore], ready: int) -> Judged | None:
    """Returns the published score with the verdict, None if none is reported.

    judging, ready: the seeds that judge it, as of `in_declared_order`; where it is not for our seeds to
    judge, there are none, and what is known is what others measured.
    """
    number, choice, evidence = context.number, context.choice, context.evidence
    if number is None or context.column.unit == "plain":
        return None
    judged = judge_number(
        number,
        others_of(evidence.ledger, number, deterministic=context.row.deterministic),
        values=[100 * seed.value for seed in judging],
        dev=[100 * seed.dev for seed in judging],
        in_order=ready,
        price=evidence.prices.get((choice.system, choice.backbone)) if choice else None,
    )
    if context.no_verdict or choice is None:
        return replace(judged, plan=None)
    if choice.seeds and judged.plan is not None:
        seed = ", ".join(map(str, choice.seeds))
        return replace(judged, plan=Plan(why=f"no other seed enters: it is about seed {seed}"))
    return judged
