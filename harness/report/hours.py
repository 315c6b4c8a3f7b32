"""What hours buy: the price of a system's seeds, a weekend on one GPU, and the next look after a report."""

import math
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from harness.evidence.judged import Fact, Judged
from harness.evidence.number_tests import LOOKS
from harness.evidence.settling import Price, counted
from harness.evidence.spec import load_spec
from harness.evidence.words import scale
from harness.paths import ARTEFACTS, CORPORA, TEACHERS
from harness.plan.entries import Params
from harness.plan.estimate import Estimate
from harness.plan.hours import KnownHours, read_hours
from harness.plan.names import FULL_SCALE
from harness.plan.recipes import Recipe
from harness.plan.resolve import resolve
from harness.report.tables.model import Cell, Table, reading_order

SEED_OF_KEY = re.compile(r"(?<=__s)\d+")
"""The seed in the key of a run."""
WEEKEND = 48.0
"""Hours of a weekend."""
BACKBONE, SEEDS = "bert-base-uncased", LOOKS[0]
"""The rows and the seeds of each plan: a verdict needs the first look."""
WEEKEND_HEADING = "## What a weekend settles"
WEEKEND_HEADS = ("| table | plan | scores it tests | runs | GPU hours |", "| :-- | :-- | --: | --: | --: |")
LINE_WIDTH = 120
"""Characters of a line of a document."""


@dataclass(frozen=True)
class WeekendPlan:
    """A main table as a plan. numbers: the different reported scores that its runs judge. hours: None if the
    cost of a run is unknown; basis: of the hours, in words. derives: whether a corpus is made first, whose
    hours are not counted.
    """

    table: Table
    command: str
    runs: int
    numbers: frozenset[Fact]
    hours: float | None
    basis: str = ""
    derives: bool = False

    @property
    def shown_hours(self) -> str:
        """The hours with one decimal, or a dash."""
        more = "more than " if self.derives else ""
        return "–" if self.hours is None else f"{more}{self.hours:,.1f}"


@dataclass(frozen=True)
class Weekend:
    """The plans, the cheapest first. gpu: the name of the GPU; basis: of its hours, in words."""

    plans: tuple[WeekendPlan, ...]
    gpu: str
    basis: str

    @property
    def fitting(self) -> list[WeekendPlan]:
        """The plans that one GPU computes one after the other in a weekend."""
        known = [(plan, plan.hours) for plan in self.plans if plan.hours is not None and not plan.derives]
        ends = accumulate(hours for _, hours in known)
        return [plan for (plan, _), end in zip(known, ends, strict=True) if end <= WEEKEND]

    @property
    def numbers(self) -> int:
        """The number of different reported scores that these plans judge."""
        return len(frozenset().union(*(plan.numbers for plan in self.fitting)))

    @property
    def sentence(self) -> str:
        """What fits, and the basis of the hours."""
        enough = f"{WEEKEND:g} hours of one {self.gpu} are"
        if self.fitting:
            fits = f"{enough} enough for {len(self.fitting)} of these {counted(len(self.plans), 'table')}, "
            fits += f"with up to {self.numbers} reported scores."
        else:
            fits = f"{enough} not enough for any of these tables."
        first = " A table of more hours than it states needs a derived corpus first."
        return f"{fits} Hours {self.basis}.{first if any(plan.derives for plan in self.plans) else ''}"

    def section(self) -> str:
        """Returns the section of docs/weekend.md, in Markdown."""
        cells = [
            (
                plan.table.title,
                f"`{plan.table.key} --backbone {BACKBONE}`",
                len(plan.numbers),
                plan.runs,
                plan.shown_hours,
            )
            for plan in self.plans
        ]
        rows = [f"| {' | '.join(map(str, row))} |" for row in cells]
        lines = [WEEKEND_HEADING, "", textwrap.fill(self.sentence, LINE_WIDTH), "", *WEEKEND_HEADS, *rows]
        if self.fitting:
            names = " ".join(plan.table.key for plan in self.fitting)
            lines += ["", f"    sentbench plan {names} --backbone {BACKBONE} --seeds {SEEDS}"]
            lines += ["    sentbench data fetch", "    sentbench launch"]
        return "\n".join(lines) + "\n"


def weekend_of(
    tables: Mapping[str, Table], papers: Sequence[str], recipes: Mapping[str, Recipe]
) -> Weekend | None:
    """Returns the plans of the papers' main tables: of each paper the first table that has its own method and
    numbers that runs on BACKBONE judge; None without any. Errors: InputError for wrong declarations."""
    times = read_hours()
    plans = [plan_of(table, recipes, times) for table in main_tables(tables, papers)]
    if not plans:
        return None
    plans.sort(key=lambda plan: (plan.hours is None, plan.derives, plan.hours))
    return Weekend(tuple(plans), times.gpu_name, "; ".join(dict.fromkeys(plan.basis for plan in plans)))


def main_tables(tables: Mapping[str, Table], papers: Sequence[str]) -> list[Table]:
    """Returns of each paper the first table that has its own method and numbers that runs on BACKBONE
    judge."""
    found = []
    for paper in papers:
        ordered = sorted(
            (table for key, table in tables.items() if key.startswith(f"{paper}/")), key=reading_order
        )
        main = (table for table in ordered if any(row.is_own for row in table.rows) and facts_of(table))
        found += [*main][:1]
    return found


def testable(cell: Cell) -> bool:
    """Returns whether runs on BACKBONE judge the number of a cell."""
    judged = cell.judged
    wanted = cell.wanted and not cell.no_verdict
    return wanted and judged is not None and judged.number.backbone == BACKBONE


def facts_of(table: Table) -> frozenset[Fact]:
    """Returns the different reported scores of a table that runs on BACKBONE judge."""
    cells = (cell for _, _, cell in table.cells())
    return frozenset(cell.judged.fact for cell in cells if cell.judged and testable(cell))


def hours_of_plan(estimate: Estimate) -> float | None:
    """Returns the GPU hours of a plan's runs and teachers, None if a cost is unknown."""
    costs = [estimate.teachers(), *map(estimate.run, estimate.params.runs.values())]
    known = [cost.gpu_hours for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def plan_of(table: Table, recipes: Mapping[str, Recipe], times: KnownHours) -> WeekendPlan:
    """Returns a table as a plan, with the hours of its runs and teachers on a GPU."""
    specs = {table.key: load_spec(table.key)}
    params = resolve(recipes, [table.key], seeds=SEEDS, backbones=[BACKBONE], tables=specs)
    estimate = Estimate(params, times)
    hours = hours_of_plan(estimate)
    command = f"sentbench plan {table.key} --backbone {BACKBONE} --seeds {SEEDS}"
    bases = {key: words for key, words in estimate.bases().items() if key[0] == "cuda"}
    basis = "; ".join(f"in {precision} are {'; '.join(words)}" for (_, precision), words in bases.items())
    return WeekendPlan(table, command, len(params.runs), facts_of(table), hours, basis, bool(params.corpora))


def seed_prices(
    recipes: Mapping[str, Recipe], systems: Collection[str] | None = None
) -> dict[tuple[str, str], Price]:
    """Returns the GPU hours of the seeds of each system of full-scale recipes, by system and backbone. They
    equal the output of the command's dry run. systems: only these; default: all.
    Errors: as `resolve` and `read_hours`.
    """
    homes = {
        system: name
        for name, recipe in recipes.items()
        if FULL_SCALE in recipe.providers
        for system in recipe.systems
        if systems is None or system in systems
    }
    if not homes:
        return {}
    names = ["all"] if systems is None else [f"{home}/{system}" for system, home in homes.items()]
    params, times = resolve(recipes, names, seeds=2), read_hours()
    hours = _hours_of(Estimate(params, times))
    seeds: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for key, run in params.runs.items():
        seeds[run.id][run.backbone_name].append(key)
    prices = {}
    for system in homes:
        for backbone, keys in seeds[system].items():
            needed = _needed(params, keys[0])
            shared = needed & _needed(params, keys[1]) if len(keys) > 1 else set()
            runs = [params.runs[Path(folder).name] for folder in needed if Path(folder).parent == ARTEFACTS]
            corpora = [Path(run.corpus) for run in runs]
            command = f"sentbench plan {homes[system]}/{system}"
            if len(seeds[system]) > 1:
                command += f" --backbone {backbone}"
            prices[system, backbone] = Price(
                command,
                {SEED_OF_KEY.sub("", folder): hours[folder] for folder in needed - shared},
                {folder: hours[folder] for folder in shared},
                ", ".join(sorted({path.name for path in corpora if path.parent == CORPORA})),
                times.gpu_of(params.runs[keys[0]].train["precision"]),
            )
    return prices


def _needed(params: Params, key: str) -> set[str]:
    """Returns the folders of a run, of the runs that it needs, and of the teachers' vectors."""
    folders, wanted = set(), [f"{ARTEFACTS}/{key}"]
    while wanted:
        folder = wanted.pop()
        folders.add(folder)
        if Path(folder).parent == ARTEFACTS:
            run = params.runs[Path(folder).name]
            needed = [run.parent, run.backbone]
            wanted += [path for path in needed if Path(path).parent in (ARTEFACTS, TEACHERS)]
    return folders


def _hours_of(estimate: Estimate) -> dict[str, float]:
    params = estimate.params
    costs = {f"{ARTEFACTS}/{key}": estimate.run(run) for key, run in params.runs.items()}
    costs |= {f"{TEACHERS}/{name}": estimate.teacher(name) for name in params.teachers}
    return {folder: math.nan if cost is None else cost.gpu_hours for folder, cost in costs.items()}


def settled_lines(tables: Iterable[Table]) -> list[str]:
    """Returns lines on the reported numbers that our runs settled, and on inconclusive ones.

    A number that several tables quote counts once. Returns an empty list if there are no runs.
    """
    judged: dict[Fact, Judged] = {}
    without_verdict = 0
    for table in tables:
        for _, _, cell in table.cells():
            if not cell.values or cell.judged is None:
                continue
            if cell.no_verdict or cell.judged.ours is None:
                without_verdict += 1
            else:
                judged.setdefault(cell.judged.fact, cell.judged)
    lines = _answers(list(judged.values())) if judged else []
    if without_verdict:
        lines.append(f"without a verdict: {counted(without_verdict, 'cell')}, with the reason in its details")
    return lines


def _answers(judged: list[Judged]) -> list[str]:
    """Returns the counts of verdicts, and the cheapest next look at a number without a verdict."""
    counts = Counter(number.word for number in judged if number.verdict.is_settled)
    settled = counts.total()
    left = len(judged) - settled
    words = ", ".join(f"{counts[word]} {word.text}" for word in scale() if counts[word])
    lines = [
        f"settled: {settled} of {counted(len(judged), 'reported number')}" + (f" ({words})" if words else "")
    ]
    looks = [
        number.plan for number in judged if number.plan is not None and number.plan.gpu_hours is not None
    ]
    if left and looks:
        nearest = min(looks, key=lambda plan: plan.gpu_hours or 0.0)
        lines.append(f"open: {left}; next: {nearest.cost} ({nearest.why}): {nearest.command}")
    return lines
