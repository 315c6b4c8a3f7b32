"""What a choice by budget is compared with: the cheapest steps first, and orders by chance."""

from __future__ import annotations

import pytest

from benchmarks import budgets
from benchmarks.budgets import in_order, row_of
from harness.plan.prices import Question, Step, Work, steps_after

WORKS = {"cheap": Work(0, {"cheap": 1.0}, {}), "good": Work(0, {"good": 1.0, "cheap": 1.0}, {})}
QUESTIONS = [Question("a", "cheap", 1, 0.2), *(Question(name, "good", 5, 0.9) for name in "bc")]


def test_steps_in_an_order_pay_once_for_what_they_share() -> None:
    """The cheap one takes 1 h; the good one 5 + 5 h alone, 9 h after it. In 9 h only the cheap one fits."""
    steps = steps_after(QUESTIONS, WORKS, [], float("inf"))
    assert [(step.work, step.hours) for step in steps] == [("cheap", 1.0), ("good", 10.0)]
    assert in_order(steps, QUESTIONS, WORKS, 10.0) == pytest.approx(2.0)
    assert in_order(steps, QUESTIONS, WORKS, 9.0) == pytest.approx(0.2)
    assert in_order(steps[::-1], QUESTIONS, WORKS, 9.9) == pytest.approx(0.2)


def test_a_row_has_our_choice_the_cheapest_first_and_the_mean_of_orders(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without what they share, 10 h pay for the good one alone or for the cheap one alone."""
    apart = {"cheap": WORKS["cheap"], "good": Work(0, {"good": 2.0}, {})}
    assert row_of("all", QUESTIONS, apart, 10.0)[:5] == ["`all`", "3", "10", "1.8", "0.2"]
    orders = iter([["cheap", "good"], ["good", "cheap"]])

    class Chosen:
        def __init__(self, seed: int) -> None:
            self.seed = seed

        def sample(self, steps: list[Step], count: int) -> list[Step]:
            names = next(orders)
            return sorted(steps, key=lambda step: names.index(step.work))

    monkeypatch.setattr(budgets, "ORDERS", 2)
    monkeypatch.setattr(budgets.random, "Random", Chosen)
    assert row_of("all", QUESTIONS, apart, 10.0)[5] == "1.0"
