"""Which runs answer the most open questions within a budget of hours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

Item = tuple[str, int | None]
"""One training or encoding: its name, and its seed where every seed needs its own."""


class Question(NamedTuple):
    """A reported number without a verdict.

    work: the system to run. seeds: of it in all, at the advised look. chance: probability of a verdict there.
    """

    name: str
    work: str
    seeds: int
    chance: float


class Work(NamedTuple):
    """What the seeds of a system take. done: seeds on record. each: hours by name of what every seed needs;
    shared: of what all seeds need once.
    """

    done: int
    each: Mapping[str, float]
    shared: Mapping[str, float]

    def items(self, seeds: int) -> dict[Item, float]:
        """Returns what so many seeds in all still take, with its hours."""
        if seeds <= self.done:
            return {}
        items: dict[Item, float] = {
            (name, seed): hours for seed in range(self.done, seeds) for name, hours in self.each.items()
        }
        if not self.done:
            items |= {(name, None): hours for name, hours in self.shared.items()}
        return items


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

    What two systems both need counts once, for the first. Every step is tried as the first one, and the
    choice with most expected verdicts is kept; so a cheap first step does not keep out a better dear one.
    """
    found: list[Step] = _greedy(questions, works, budget, [])
    for first in steps_after(questions, works, [], budget):
        other = _greedy(questions, works, budget, [first])
        if _expected(other) > _expected(found) + 1e-9:
            found = other
    return found


def next_step(
    questions: Sequence[Question], works: Mapping[str, Work], chosen: Sequence[Step]
) -> Step | None:
    """Returns the step with most expected verdicts an hour after those chosen, whatever it costs."""
    return max(steps_after(questions, works, chosen, float("inf")), key=_worth, default=None)


def _greedy(
    questions: Sequence[Question], works: Mapping[str, Work], budget: float, chosen: list[Step]
) -> list[Step]:
    while True:
        left = budget - sum(step.hours for step in chosen)
        best = max(steps_after(questions, works, chosen, left), key=_worth, default=None)
        if best is None:
            return chosen
        chosen = [*chosen, best]


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
        if seeds <= reached.get(work, 0):
            continue
        items = works[work].items(seeds)
        hours = sum(cost for item, cost in items.items() if item not in paid)
        answered = tuple(
            question
            for question in questions
            if question.work == work and reached.get(work, 0) < question.seeds <= seeds
        )
        if hours <= left:
            found.append(Step(work, seeds, hours, answered))
    return found


def _worth(step: Step) -> float:
    return step.expected / max(step.hours, 1e-9)


def _expected(steps: Sequence[Step]) -> float:
    return sum(step.expected for step in steps)
