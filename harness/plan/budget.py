"""Which runs answer the most open questions within a budget of hours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.plan.prices import Item, Work


class Question(NamedTuple):
    """A reported number without a verdict.

    work: the system to run. seeds: of it in all, at the advised look. chance: probability of a verdict there.
    """

    name: str
    work: str
    seeds: int
    chance: float


class Step(NamedTuple):
    """Seeds of one system in all, the hours that they add, and the questions that they may answer."""

    work: str
    seeds: int
    hours: float
    questions: tuple[Question, ...]

    @property
    def expected(self) -> float:
        """The expected number of verdicts."""
        return sum(question.chance for question in self.questions)


def choose(questions: Sequence[Question], works: Mapping[str, Work], budget: float) -> list[Step]:
    """Returns steps within the budget, in their order: each the one with most expected verdicts an hour.

    works: by the name that questions use. What two systems both need counts once, for the first. Every step
    is tried as the first one, and the choice with most expected verdicts is kept; so a cheap first step does
    not keep out a better dear one.
    """
    found: list[list[Step]] = []
    for first in (None, *steps_after(questions, works, [], budget)):
        chosen = [] if first is None else [first]
        while step := next_step(questions, works, chosen, budget - sum(step.hours for step in chosen)):
            chosen.append(step)
        found.append(chosen)
    return max(found, key=lambda steps: round(sum(step.expected for step in steps), 9))


def next_step(
    questions: Sequence[Question], works: Mapping[str, Work], chosen: Sequence[Step], left: float = math.inf
) -> Step | None:
    """Returns the step with most expected verdicts an hour after those chosen, within the hours left."""
    steps = steps_after(questions, works, chosen, left)
    return max(steps, key=lambda step: step.expected / max(step.hours, 1e-9), default=None)


def steps_after(
    questions: Sequence[Question], works: Mapping[str, Work], chosen: Sequence[Step], left: float
) -> list[Step]:
    """Returns every step that fits into the hours left and may answer something more."""
    paid: set[Item] = set()
    reached: dict[str, int] = {}
    for step in chosen:
        paid |= works[step.work].items(step.seeds).keys()
        reached[step.work] = max(step.seeds, reached.get(step.work, 0))
    found = []
    for work, seeds in dict.fromkeys((question.work, question.seeds) for question in questions):
        hours = sum(cost for item, cost in works[work].items(seeds).items() if item not in paid)
        answered = tuple(
            question
            for question in questions
            if question.work == work and reached.get(work, 0) < question.seeds <= seeds
        )
        if answered and hours <= left:
            found.append(Step(work, seeds, hours, answered))
    return found
