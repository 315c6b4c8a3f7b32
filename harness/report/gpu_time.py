"""What a night and a weekend of one GPU settle: systems and a number of seeds, by verdicts for an hour."""

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness.evidence.judged import Fact
from harness.evidence.number_tests import LOOKS
from harness.evidence.settling import EVEN, counted
from harness.evidence.spec import load_spec
from harness.paths import ARTEFACTS, CORPORA
from harness.plan.entries import Params
from harness.plan.estimate import Estimate
from harness.plan.hours import Cost, read_hours
from harness.plan.recipes import Recipe
from harness.plan.resolve import resolve
from harness.report.hours import BACKBONE, costs_of, main_tables, needed_folders, testable
from harness.report.tables.model import Table

SPANS = {"night": 10.0, "weekend": 48.0}
"""Hours of one GPU by name."""
HEADS = (
    "| system | seeds | chance of a verdict | GPU hours | disk |",
    "| :-- | --: | --: | --: | --: |",
)
LINE_WIDTH = 120
"""Characters of a line of a document."""

Chances = Mapping[Fact, Mapping[int, float]]
"""The chance of a verdict on each reported average of a system, by the number of seeds."""


class Candidate(NamedTuple):
    """A system as `plan` takes it with this many seeds. runs: its own; chances: of a verdict on each of its
    reported averages; costs: by folder of its runs and of all that they need."""

    name: str
    runs: int
    chances: tuple[float, ...]
    costs: Mapping[str, Cost]

    @property
    def cost(self) -> Cost:
        """The hours and bytes of the system alone."""
        return Cost.total(self.costs.values())

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """The cells of its row: name, seeds, chances, GPU hours, disk."""
        chances = ", ".join(f"{chance:.0%}".replace("%", " %") for chance in self.chances)
        return self.name, str(self.runs), chances, shown_hours(self.cost.gpu_hours), shown_disk(self.cost)


@dataclass(frozen=True)
class GpuPlan:
    """The systems and the seeds with the most expected verdicts in a span of SPANS. cost: of all, shared runs
    counted once, with the disk of data and backbones; gpu: its name; basis: of the hours, in words. left:
    systems that fit only alone, each with the seeds of the most expected verdicts for an hour.
    """

    span: str
    seeds: int
    systems: tuple[Candidate, ...]
    cost: Cost
    gpu: str
    basis: str
    left: tuple[Candidate, ...] = ()

    @property
    def command(self) -> str:
        """The plan of these systems."""
        names = " ".join(system.name for system in self.systems)
        return f"sentbench plan {names} --backbone {BACKBONE} --seeds {self.seeds}"

    @property
    def expected(self) -> float:
        """The expected number of verdicts on reported averages."""
        return _expected(self.systems)

    @property
    def sentence(self) -> str:
        """What is planned, what it costs, and what it is expected to settle."""
        averages = sum(len(system.chances) for system in self.systems)
        hours = f"{self.cost.gpu_hours:.1f} of {SPANS[self.span]:g} hours of one {self.gpu}"
        return (
            f"{counted(len(self.systems), 'system')} with {self.seeds} seeds, or one run where no seed "
            f"changes the score, take {hours} and {shown_disk(self.cost)} of disk. Of "
            f"{counted(averages, 'reported average')}, {self.expected:.1f} are expected to get a verdict."
        )

    def section(self) -> str:
        """Returns the section of docs/weekend.md, in Markdown."""
        lines = [f"## What a {self.span} settles", "", textwrap.fill(self.sentence, LINE_WIDTH), ""]
        lines += [*HEADS, *map(_line, self.systems)]
        commands = [self.command, "sentbench data fetch", "sentbench launch"]
        lines += ["", *(f"    {command}" for command in commands)]
        if self.left:
            lines += ["", f"Not in this plan; each takes another {self.span}:", "", *HEADS]
            lines += map(_line, self.left)
        return "\n".join(lines) + "\n"


def _line(system: Candidate) -> str:
    name, *cells = system.cells
    return f"| `{name}` | {' | '.join(cells)} |"


def shown_hours(hours: float) -> str:
    """Returns hours with one decimal."""
    return f"{hours:.1f}" if hours >= 0.05 else "< 0.1"


def shown_disk(cost: Cost) -> str:
    """Returns the disk of a cost as `plan` shows it."""
    return f"{cost.disk / 1e9:.2f} GB"


def gpu_plan(
    span: str, tables: Mapping[str, Table], papers: Sequence[str], recipes: Mapping[str, Recipe]
) -> GpuPlan | None:
    """Returns the systems of the papers' main tables and the seeds with the most expected verdicts on
    reported averages in a span of SPANS; None if no system fits.

    A plan has one number of seeds, one of the looks. Of each, systems are taken in order of the expected
    verdicts for an hour. Left out are systems whose averages all have less than an even chance, and those
    whose corpus is derived, as its hours are not known.
    """
    systems, times = chances_of_averages(tables, papers), read_hours()
    by_look = {look: candidates(systems, recipes, look) for look in LOOKS}
    plans = {look: fitting(found, SPANS[span]) for look, found in by_look.items()}
    seeds = max(plans, key=lambda look: _expected(plans[look]))
    best = plans[seeds]
    if not best:
        return None
    params = resolve(recipes, [system.name for system in best], seeds=seeds, backbones=[BACKBONE])
    estimate = Estimate(params, times)
    cost = Cost.total([*_union(best).values(), estimate.data()])
    words = {key: texts for key, texts in estimate.bases().items() if key[0] == "cuda"}
    basis = "; ".join(f"in {precision} are {'; '.join(texts)}" for (_, precision), texts in words.items())
    left: dict[str, Candidate] = {}
    for system in sorted((each for found in by_look.values() for each in found), key=_order):
        if system.cost.gpu_hours <= SPANS[span] and system.name not in {each.name for each in best}:
            left.setdefault(system.name, system)
    return GpuPlan(span, seeds, tuple(best), cost, times.gpu_name, basis, tuple(left.values()))


def chances_of_averages(tables: Mapping[str, Table], papers: Sequence[str]) -> dict[str, Chances]:
    """Returns the chances of the reported averages of each system in the papers' main tables."""
    found: dict[str, dict[Fact, Mapping[int, float]]] = defaultdict(dict)
    for table in main_tables(tables, papers):
        for spec, row in zip(load_spec(table.key).rows, table.rows, strict=True):
            key, _, backbone = (spec.run or "").partition("@")
            for cell in row.cells if backbone == BACKBONE else ():
                if cell.judged and testable(cell) and len(cell.judged.number.averaged) > 1:
                    found[key][cell.judged.fact] = cell.judged.chances
    return dict(found)


def candidates(systems: Mapping[str, Chances], recipes: Mapping[str, Recipe], seeds: int) -> list[Candidate]:
    """Returns the systems with an even chance of a verdict and known hours, with this many seeds."""
    homes = {system: name for name, recipe in recipes.items() for system in recipe.systems}
    chances = {
        system: tuple(by.get(seeds, 0.0) for by in facts.values()) for system, facts in systems.items()
    }
    likely = [system for system, each in chances.items() if max(each) >= EVEN]
    if not likely:
        return []
    names = [f"{homes[system]}/{system}" for system in likely]
    params = resolve(recipes, names, seeds=seeds, backbones=[BACKBONE])
    costs, found = costs_of(Estimate(params, read_hours())), []
    for system, name in zip(likely, names, strict=True):
        keys = [key for key, run in params.runs.items() if run.id == system]
        folders = set[str]().union(*(needed_folders(params, key) for key in keys))
        parts = {folder: cost for folder in sorted(folders) if (cost := costs[folder]) is not None}
        if len(parts) == len(folders) and not _derived(params, folders):
            found.append(Candidate(name, len(keys), chances[system], parts))
    return found


def _derived(params: Params, folders: Iterable[str]) -> bool:
    """Returns whether a run of these folders reads a derived corpus."""
    runs = (params.runs[Path(folder).name] for folder in folders if Path(folder).parent == ARTEFACTS)
    return any(Path(run.corpus).parent == CORPORA for run in runs)


def fitting(systems: Iterable[Candidate], hours: float) -> list[Candidate]:
    """Returns the systems that fit together into these GPU hours, the most expected verdicts for an hour
    first."""
    chosen: list[Candidate] = []
    for system in sorted(systems, key=_order):
        if Cost.total(_union([*chosen, system]).values()).gpu_hours <= hours:
            chosen.append(system)
    return chosen


def _order(system: Candidate) -> tuple[float, str]:
    """Returns the key that puts the most expected verdicts for an hour first."""
    return -sum(system.chances) / system.cost.gpu_hours, system.name


def _union(systems: Iterable[Candidate]) -> dict[str, Cost]:
    """Returns the cost of each folder that these systems need."""
    return {folder: cost for system in systems for folder, cost in system.costs.items()}


def _expected(systems: Iterable[Candidate]) -> float:
    return sum(sum(system.chances) for system in systems)
