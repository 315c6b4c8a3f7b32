"""What a choice by budget is worth: expected verdicts against running the cheapest systems first, or any.

`python -m benchmarks.budgets` writes the table of docs/table.md. The questions are the reported numbers of
this checkout without a verdict, the hours those of `sentbench plan`.
"""

import random
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.assembly.budget import GOALS, cells_of, open_questions
from harness.assembly.tables import build_tables, evidence_of
from harness.disk.files import write_text
from harness.facts.settling import Price
from harness.plan.prices import Question, Step, choose, seed_prices, steps_after
from harness.plan.recipes import load_recipes
from harness.report.formats.readmes import with_section

DOCS = Path("docs/table.md")
HOURS = (24.0, 96.0, 300.0)
ORDERS = 20
"""Random orders whose mean is shown."""
HEAD = f"""\
## What the choice is worth

Expected verdicts of the runs that `--budget` chooses, of the cheapest ones first, and of random
orders (mean of {ORDERS}), where no full-scale run is on record. `python -m benchmarks.budgets`
writes this table.

| goal | open numbers | GPU hours | chosen | cheapest first | random order |
| :-- | --: | --: | --: | --: | --: |
"""


def in_order(
    order: Sequence[Step], questions: Sequence[Question], prices: Mapping[str, Price], budget: float
) -> float:
    """Returns the expected verdicts of steps taken in their order, each where it still fits."""
    taken: list[Step] = []
    for wanted in order:
        left = budget - sum(step.hours for step in taken)
        own = [one for one in questions if one.work == wanted.work]
        taken += [step for step in steps_after(own, prices, taken, left) if step.seeds == wanted.seeds]
    return sum(step.expected for step in taken)


def main() -> None:
    """Writes the table with its heading: our choice, the cheapest first, and the mean of random orders."""
    tables, known = build_tables(evidence_of([])), seed_prices(load_recipes(), "cuda").values()
    prices = {price.command: price for price in known if price.is_known}
    section = HEAD
    for goal in GOALS:
        questions = [one for one in open_questions(cells_of(tables, goal)) if one.work in prices]
        singles = steps_after(questions, prices, [], float("inf"))
        cheapest = sorted(singles, key=lambda step: step.hours)
        for budget in HOURS:
            rng = random.Random(0)
            orders = [rng.sample(singles, len(singles)) for _ in range(ORDERS)]
            found = (
                sum(step.expected for step in choose(questions, prices, budget)),
                in_order(cheapest, questions, prices, budget),
                statistics.fmean(in_order(order, questions, prices, budget) for order in orders),
            )
            verdicts = " | ".join(f"{one:.1f}" for one in found)
            section += f"| `{goal}` | {len(questions)} | {budget:g} | {verdicts} |\n"
    write_text(DOCS, with_section(DOCS.read_text(encoding="utf-8"), section, where=str(DOCS)))


if __name__ == "__main__":
    main()
