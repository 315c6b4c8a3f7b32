"""Which runs a budget pays: by hand, and against every choice there is."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest

from harness.cli import main
from harness.plan.prices import Question, Step, Work, choose, next_step

WORKS = {
    "simcse": Work("", {"simcse": 1.0}, {}),
    "sct": Work("", {"simcse": 1.0, "sct": 1.0}, {"teacher": 2.0}),
    "dear": Work("", {"dear": 9.0}, {}),
}
OPEN = [Question("a", "simcse", 5, 0.9), Question("b", "sct", 5, 0.8), Question("c", "dear", 5, 0.9)]


def test_what_two_systems_need_is_paid_once() -> None:
    """SimCSE's 5 seeds take 5 h. SCT's take 5 x 2 + 2 = 12 h alone, 7 h where SimCSE's encoders are there."""
    steps = choose(OPEN, WORKS, 12.0)
    assert [(step.work, step.seeds, step.hours) for step in steps] == [("simcse", 5, 5.0), ("sct", 5, 7.0)]
    assert next_step(OPEN, WORKS, steps) == Step("dear", 5, 45.0, (OPEN[2],))


def test_seeds_on_record_and_what_they_shared_cost_nothing() -> None:
    works = {"sct": Work("", {"sct": 1.0}, {"teacher": 2.0}, done=3)}
    (step,) = choose([Question("b", "sct", 5, 0.8), Question("d", "sct", 4, 0.1)], works, 2.0)
    assert (step.hours, step.expected) == (2.0, pytest.approx(0.9))


def test_a_cheap_step_does_not_keep_out_a_better_one() -> None:
    """Per hour the first is better, 0.2 / 1 h; with it 10 h no longer fit, which are worth 1.8."""
    works = {"cheap": Work("", {"cheap": 1.0}, {}), "good": Work("", {"good": 10.0}, {})}
    questions = [Question("a", "cheap", 1, 0.2), *(Question(name, "good", 1, 0.9) for name in "bc")]
    assert [step.work for step in choose(questions, works, 10.0)] == ["good"]


def every_choice(questions: Sequence[Question], works: dict[str, Work], budget: float) -> float:
    """Returns the most expected verdicts of all ways to take seeds of each system."""
    best = 0.0
    options = [[0, *{question.seeds for question in questions if question.work == name}] for name in works]
    for seeds in itertools.product(*options):
        paid: dict[object, float] = {}
        for name, count in zip(works, seeds, strict=True):
            paid |= works[name].items(count) if count else {}
        if sum(paid.values()) <= budget:
            taken = dict(zip(works, seeds, strict=True))
            best = max(best, sum(one.chance for one in questions if one.seeds <= taken[one.work]))
    return best


def drawn(rng: random.Random) -> tuple[list[Question], dict[str, Work], float]:
    parents = {name: rng.uniform(0.1, 1) for name in "xyz"}
    needed = {name: rng.choice("xyz") for name in "abcd"}
    works = {
        name: Work("", {name: rng.uniform(0.1, 3), parent: parents[parent]}, {"teacher": 1.0})
        for name, parent in needed.items()
    }
    questions = [
        Question(str(number), rng.choice("abcd"), rng.choice([5, 10, 20]), rng.uniform(0.1, 1))
        for number in range(8)
    ]
    return questions, works, rng.uniform(5, 60)


def test_the_choice_is_near_the_best_of_all() -> None:
    rng = random.Random(1)
    cases = [drawn(rng) for _ in range(60)]
    ours = [sum(step.expected for step in choose(*case)) for case in cases]
    best = [every_choice(*case) for case in cases]
    assert all(one <= most + 1e-9 for one, most in zip(ours, best, strict=True))
    assert sum(ours) >= 0.97 * sum(best)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--budget", "soon"], "--budget soon: expected hours or minutes"),
        (["--budget", "8h", "small"], "--budget chooses systems and seeds itself"),
        (["--goal", "all"], "--on and --goal go with --budget"),
        ([], "plan: expected NAME"),
    ],
)
def test_a_bad_budget_is_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *words]) == 2
    assert told in capsys.readouterr().err
