"""What hours buy: the price of a system's seeds, the main tables, and the next look after a report."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from harness.evidence.judged import Fact, Judged
from harness.evidence.settling import Price, counted
from harness.evidence.words import scale
from harness.paths import ARTEFACTS, CORPORA, TEACHERS
from harness.plan.entries import Params
from harness.plan.estimate import Estimate
from harness.plan.hours import Cost, read_hours
from harness.plan.names import FULL_SCALE
from harness.plan.recipes import Recipe
from harness.plan.resolve import resolve
from harness.report.tables.model import Cell, Table, reading_order

SEED_OF_KEY = re.compile(r"(?<=__s)\d+")
"""The seed in the key of a run."""
BACKBONE = "bert-base-uncased"
"""The rows of main tables that a plan takes."""


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
    costs = costs_of(Estimate(params, times))
    hours = {folder: math.nan if cost is None else cost.gpu_hours for folder, cost in costs.items()}
    seeds: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for key, run in params.runs.items():
        seeds[run.id][run.backbone_name].append(key)
    prices = {}
    for system in homes:
        for backbone, keys in seeds[system].items():
            needed = needed_folders(params, keys[0])
            shared = needed & needed_folders(params, keys[1]) if len(keys) > 1 else set()
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


def needed_folders(params: Params, key: str) -> set[str]:
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


def costs_of(estimate: Estimate) -> dict[str, Cost | None]:
    """Returns the cost of every run and every teacher's vectors by folder, None if it is not known."""
    params = estimate.params
    costs = {f"{ARTEFACTS}/{key}": estimate.run(run) for key, run in params.runs.items()}
    return costs | {f"{TEACHERS}/{name}": estimate.teacher(name) for name in params.teachers}


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
