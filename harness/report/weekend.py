"""A weekend on one GPU: the papers' main tables on one backbone, in hours of the GPU that is guessed for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from harness.evidence.judged import Fact
from harness.evidence.number_tests import LOOKS
from harness.evidence.spec import load_spec
from harness.plan.estimate import Estimate
from harness.plan.hours import KnownHours, read_hours
from harness.plan.recipes import Recipe
from harness.plan.resolve import resolve
from harness.report.tables.model import Table, reading_order

WEEKEND = 48.0
"""Hours of a weekend."""
BACKBONE, SEEDS = "bert-base-uncased", LOOKS[0]
"""The rows and the seeds of each plan: a verdict needs the first look."""


@dataclass(frozen=True)
class WeekendPlan:
    """A main table as a plan. numbers: the different reported scores that its runs judge. hours: None if the
    cost of a run is unknown.
    """

    table: Table
    command: str
    runs: int
    numbers: frozenset[Fact]
    hours: float | None


@dataclass(frozen=True)
class Weekend:
    """The plans, the cheapest first. gpu: the name of the GPU; source: the page that states its peak rate."""

    plans: tuple[WeekendPlan, ...]
    gpu: str
    source: str

    @property
    def fitting(self) -> list[WeekendPlan]:
        """The plans that one GPU computes one after the other in a weekend."""
        known = [(plan, plan.hours) for plan in self.plans if plan.hours is not None]
        ends = accumulate(hours for _, hours in known)
        return [plan for (plan, _), end in zip(known, ends, strict=True) if end <= WEEKEND]

    @property
    def numbers(self) -> int:
        """The number of different reported scores that these plans judge."""
        return len(frozenset().union(*(plan.numbers for plan in self.fitting)))


def weekend_of(
    tables: Mapping[str, Table], papers: Sequence[str], recipes: Mapping[str, Recipe]
) -> Weekend | None:
    """Returns the plans of the papers' main tables: of each paper the first table that has its own method and
    numbers that runs on BACKBONE judge; None without any. Errors: InputError for wrong declarations."""
    times = read_hours()
    plans = []
    for paper in papers:
        ordered = sorted(
            (table for key, table in tables.items() if key.startswith(f"{paper}/")), key=reading_order
        )
        main = [table for table in ordered if any(row.is_own for row in table.rows) and numbers_of(table)]
        if main:
            plans.append(plan_of(main[0], recipes, times))
    if not plans:
        return None
    plans.sort(key=lambda plan: (plan.hours is None, plan.hours))
    return Weekend(tuple(plans), times.gpu.name, times.gpu.source)


def numbers_of(table: Table) -> frozenset[Fact]:
    """Returns the different reported scores of a table that runs on BACKBONE judge."""
    return frozenset(
        cell.judged.fact
        for _, _, cell in table.cells()
        if cell.wanted
        and not cell.no_verdict
        and cell.judged is not None
        and cell.judged.number.backbone == BACKBONE
    )


def plan_of(table: Table, recipes: Mapping[str, Recipe], times: KnownHours) -> WeekendPlan:
    """Returns a table as a plan, with the hours of its runs and teachers on a GPU."""
    specs = {table.key: load_spec(table.key)}
    params = resolve(recipes, [table.key], seeds=SEEDS, backbones=[BACKBONE], tables=specs)
    estimate = Estimate(params, times)
    costs = [estimate.teachers(), *(estimate.run(run) for run in params.runs.values())]
    known = [cost.gpu_hours for cost in costs if cost is not None]
    hours = sum(known) if len(known) == len(costs) else None
    command = f"sentbench plan {table.key} --backbone {BACKBONE} --seeds {SEEDS}"
    return WeekendPlan(table, command, len(params.runs), numbers_of(table), hours)
