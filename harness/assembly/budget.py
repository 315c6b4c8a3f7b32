"""The open questions of the published tables, and which runs answer most of them within a budget."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from harness.assembly.tables import build_tables, evidence_of
from harness.errors import InputError, near_matches
from harness.paths import LEADERBOARDS, SCORES, declared
from harness.plan.estimate import cores_here
from harness.plan.prices import Question, Step, choose, next_step, seed_prices
from harness.plan.recipes import load_recipes
from harness.plan.step_times import Device
from harness.report.pages.answers import load_numbers
from harness.report.pages.claims import load_claims
from harness.report.tables.cells import Cell
from harness.report.tables.model import Table, TableRow, find_cells, row_label
from harness.results.store import read_results

GOALS = {
    "answers": "the numbers of the report's first screen",
    "claims": "the numbers that the papers' claims compare",
    "all": "every reported number",
}
SHOWN = 2
"""Questions that a step names."""


def spend(hours: float, goal: str, device: Device) -> str:
    """Returns which runs answer most questions of a goal within so many hours, as a table for a terminal.

    goal: one of GOALS, or a table. On a CPU runs take all its cores. Errors: InputError for an unknown goal.
    """
    recipes = load_recipes()
    results = read_results(SCORES.glob("*.json"))
    done = Counter((result.run.id, result.run.backbone) for result in results)
    prices = {
        price.command: price._replace(done=done[key])
        for key, price in seed_prices(recipes, device).items()
        if price.is_known
    }
    tables = build_tables(evidence_of(results))
    questions = [one for one in open_questions(cells_of(tables, goal)) if one.work in prices]
    steps = choose(questions, prices, hours)
    following, open_ones = next_step(questions, prices, steps), f"{len(questions)} open questions"
    if not steps:
        told = f"; the cheapest takes {following.hours:.2f} h" if following else ""
        return f"no run fits among {open_ones}{told}"
    expected, total = sum(step.expected for step in steps), sum(step.hours for step in steps)
    unit = "GPU hours" if device == "cuda" else f"hours on {cores_here()} cores"
    lines = [*_listed(steps), f"expected: {expected:.1f} verdicts of {open_ones} in {total:.2f} {unit}"]
    if following:
        lines.append(
            f"after that: {following.work} --seeds {following.seeds}, {following.expected:.2f} verdicts in "
            f"{following.hours:.2f} h"
        )
    return "\n".join([*lines, "run the first line and `sentbench launch`, then ask again"])


def _listed(steps: Sequence[Step]) -> Iterator[str]:
    yield f"{'seeds':>5} {'hours':>8} {'total':>8} {'verdicts':>9}  command and what it answers"
    total = 0.0
    for step in steps:
        total += step.hours
        numbers = f"{step.seeds:>5} {step.hours:>8.2f} {total:>8.2f} {step.expected:>9.2f}"
        yield f"{numbers}  {step.work} --seeds {step.seeds}"
        ordered = sorted(step.questions, key=lambda question: -question.chance)
        named = [f"{question.name}, {question.chance:.0%}" for question in ordered[:SHOWN]]
        rest = len(ordered) - len(named)
        yield f"{'':>34}{'; '.join([*named, *([f'{rest} more'] if rest else [])])}"


def cells_of(tables: dict[str, Table], goal: str) -> list[tuple[Table, TableRow, Cell]]:
    """Returns the cells of a goal with their tables and rows. Errors: InputError for an unknown goal."""
    if goal == "answers":
        numbers = load_numbers(declared(LEADERBOARDS))
        return [
            (tables[one.table], row, cell)
            for one in numbers
            if one.table in tables
            for row, cell in find_cells(tables[one.table], one.row, one.column)
        ]
    if goal == "claims":
        return [
            (tables[claim.table], row, cell)
            for claims in load_claims(declared(LEADERBOARDS)).values()
            for claim in claims
            for column in dict.fromkeys([*claim.columns, *claim.against])
            for rows in claim.rows
            for name in (rows.better, *rows.worse)
            for row, cell in find_cells(tables[claim.table], name, column)
        ]
    if goal != "all" and goal not in tables:
        known = [*GOALS, *tables]
        raise InputError(f"--goal {goal}: expected {', '.join(GOALS)}, or a table{near_matches(goal, known)}")
    chosen = tables.values() if goal == "all" else [tables[goal]]
    return [(table, row, cell) for table in chosen for row, _, cell in table.cells()]


def open_questions(cells: Iterable[tuple[Table, TableRow, Cell]]) -> list[Question]:
    """Returns a question for each reported number that more seeds may answer; a quoted number asks once."""
    found: dict[tuple[str, str, float], Question] = {}
    for table, row, cell in cells:
        known = cell.evidence
        plan = None if known is None else known.plan
        if known is None or plan is None or plan.seeds is None or plan.chance is None or not plan.command:
            continue
        name = f"{row_label(row)} {known.reported.column} ({table.key})"
        question = Question(name, plan.command.partition(" --seeds ")[0], plan.seeds, plan.chance)
        found.setdefault(known.reported.fact, question)
    return list(found.values())
