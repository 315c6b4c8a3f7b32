"""What one GPU computes in a night: systems of the papers' main tables, the most scores for an hour first."""

import textwrap
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.evidence.judged import Fact
from harness.evidence.spec import load_spec
from harness.plan.estimate import Estimate
from harness.plan.hours import KnownHours, read_hours
from harness.plan.recipes import Recipe
from harness.plan.resolve import resolve
from harness.report.hours import BACKBONE, LINE_WIDTH, SEEDS, hours_of_plan, main_tables, testable
from harness.report.tables.model import Table

NIGHT = 10.0
"""Hours of a night."""
HEADING = "## What a night settles"
HEADS = ("| system | scores it tests | GPU hours |", "| :-- | --: | --: |")


class NightSystem(NamedTuple):
    """A system as `plan` takes it, the reported scores that it tests, and the GPU hours of its seeds."""

    name: str
    numbers: frozenset[Fact]
    hours: float


class Night(NamedTuple):
    """The systems that fit into a night on one GPU. hours: of all, shared runs counted once."""

    systems: tuple[NightSystem, ...]
    hours: float
    gpu: str

    @property
    def command(self) -> str:
        """The plan of these systems."""
        names = " ".join(system.name for system in self.systems)
        return f"sentbench plan {names} --backbone {BACKBONE} --seeds {SEEDS}"

    def section(self) -> str:
        """Returns the section of docs/weekend.md, in Markdown."""
        numbers = frozenset[Fact]().union(*(system.numbers for system in self.systems))
        sentence = (
            f"{NIGHT:g} hours of one {self.gpu} are enough for {SEEDS} seeds of these {len(self.systems)} "
            f"systems, which settle up to {len(numbers)} reported scores in {self.hours:.1f} hours. These "
            "are the guess below; if they are too few, the same `launch` continues in the next night."
        )
        rows = [
            f"| `{name}` | {len(facts)} | {f'{hours:.1f}' if hours >= 0.05 else '< 0.1'} |"
            for name, facts, hours in self.systems
        ]
        return "\n".join([HEADING, "", textwrap.fill(sentence, LINE_WIDTH), "", *HEADS, *rows]) + (
            f"\n\n    {self.command}\n    sentbench data fetch\n    sentbench launch\n"
        )


def night_of(
    tables: Mapping[str, Table], papers: Sequence[str], recipes: Mapping[str, Recipe]
) -> Night | None:
    """Returns the systems of the papers' main tables that fit, those first that test the most scores in an
    hour; None if no system fits. Systems whose corpus is derived are left out, as its hours are not known.
    """
    homes = {system: name for name, recipe in recipes.items() for system in recipe.systems}
    facts: dict[str, set[Fact]] = defaultdict(set)
    for table in main_tables(tables, papers):
        for spec, row in zip(load_spec(table.key).rows, table.rows, strict=True):
            key, _, backbone = (spec.run or "").partition("@")
            if backbone == BACKBONE:
                facts[key] |= {cell.judged.fact for cell in row.cells if cell.judged and testable(cell)}
    times = read_hours()
    systems = []
    for key, tested in facts.items():
        hours = _hours([f"{homes[key]}/{key}"], recipes, times) if tested else None
        if hours:
            systems.append(NightSystem(f"{homes[key]}/{key}", frozenset(tested), hours))
    systems.sort(key=lambda system: (-len(system.numbers) / system.hours, system.name))
    chosen: list[NightSystem] = []
    for system in systems:
        together = _hours([*(each.name for each in chosen), system.name], recipes, times)
        if together is not None and together <= NIGHT:
            chosen.append(system)
    together = _hours([system.name for system in chosen], recipes, times) if chosen else None
    return None if together is None else Night(tuple(chosen), together, times.gpu_name)


def _hours(names: Sequence[str], recipes: Mapping[str, Recipe], times: KnownHours) -> float | None:
    """Returns the GPU hours of a plan, None if they are not known."""
    params = resolve(recipes, names, seeds=SEEDS, backbones=[BACKBONE])
    return None if params.corpora else hours_of_plan(Estimate(params, times))
