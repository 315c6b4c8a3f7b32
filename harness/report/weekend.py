"""A weekend on one GPU: the papers' main tables on one backbone, in hours of known GPUs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from harness.evidence.judged import Fact
from harness.evidence.number_tests import LOOKS
from harness.evidence.spec import load_spec
from harness.plan.estimate import Estimate
from harness.plan.recipes import Recipe
from harness.plan.resolve import resolve
from harness.plan.step_times import StepTimes, read_step_times
from harness.report.tables.model import Table, reading_order

HOURS = 48.0
"""Hours of a weekend."""
BACKBONE, SEEDS = "bert-base-uncased", LOOKS[0]
"""The rows and the seeds of each plan: a verdict needs the first look."""


@dataclass(frozen=True)
class WeekendPlan:
    """A main table as a plan. numbers: the different reported scores that its runs judge. hours: by the name
    of a GPU, None if the cost of a run is unknown.
    """

    table: Table
    command: str
    runs: int
    numbers: frozenset[Fact]
    hours: Mapping[str, float | None]


@dataclass(frozen=True)
class Weekend:
    """The plans, the cheapest first. gpus: name and the page that states the peak rate, by word of a GPU."""

    plans: tuple[WeekendPlan, ...]
    gpus: Mapping[str, tuple[str, str]]

    def fitting(self, gpu: str) -> list[WeekendPlan]:
        """Returns the plans that one GPU computes one after the other in a weekend."""
        known = [(plan, hours) for plan in self.plans if (hours := plan.hours[gpu]) is not None]
        ends = accumulate(hours for _, hours in known)
        return [plan for (plan, _), end in zip(known, ends, strict=True) if end <= HOURS]

    def numbers(self, gpu: str) -> int:
        """Returns the number of different reported scores that these plans judge."""
        return len(frozenset().union(*(plan.numbers for plan in self.fitting(gpu))))

    @property
    def best(self) -> str:
        """The word of the GPU on which most plans fit, of equal ones the fastest."""
        return max(self.gpus, key=lambda gpu: (len(self.fitting(gpu)), -self.hours(gpu)))

    def hours(self, gpu: str) -> float:
        """Returns the hours of all plans whose cost is known on a GPU."""
        return sum(plan.hours[gpu] or 0 for plan in self.plans)


def weekend_of(
    tables: Mapping[str, Table], papers: Sequence[str], recipes: Mapping[str, Recipe]
) -> Weekend | None:
    """Returns the plans of the papers' main tables: of each paper the first table that has its own method and
    numbers that runs on BACKBONE judge; None without any. Errors: InputError for wrong declarations."""
    times = read_step_times()
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
    first = next(iter(times.gpus))
    plans.sort(key=lambda plan: (plan.hours[first] is None, plan.hours[first]))
    return Weekend(tuple(plans), {word: (gpu.name, gpu.source) for word, gpu in times.gpus.items()})


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


def plan_of(table: Table, recipes: Mapping[str, Recipe], times: StepTimes) -> WeekendPlan:
    """Returns a table as a plan, with the hours of its runs and teachers on every GPU of the step times."""
    specs = {table.key: load_spec(table.key)}
    params = resolve(recipes, [table.key], seeds=SEEDS, backbones=[BACKBONE], tables=specs)
    hours: dict[str, float | None] = {}
    for gpu in times.gpus:
        estimate = Estimate(params, times.on(gpu))
        costs = [estimate.teachers(), *(estimate.run(run) for run in params.runs.values())]
        known = [cost.gpu_hours for cost in costs if cost is not None]
        hours[gpu] = sum(known) if len(known) == len(costs) else None
    command = f"sentbench plan {table.key} --backbone {BACKBONE} --seeds {SEEDS}"
    return WeekendPlan(table, command, len(params.runs), numbers_of(table), hours)
