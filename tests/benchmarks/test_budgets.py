"""What a choice by budget is compared with: steps in an order, each where it still fits."""

import pytest

from benchmarks.budgets import in_order
from harness.facts.settling import Price
from harness.plan.prices import Question, steps_after

PRICES = {"cheap": Price("", {"cheap": 1.0}, {}), "good": Price("", {"good": 1.0, "cheap": 1.0}, {})}
QUESTIONS = [Question("a", "cheap", 1, 0.2), *(Question(name, "good", 5, 0.9) for name in "bc")]


def test_steps_in_an_order_pay_once_for_what_they_share() -> None:
    """The cheap one takes 1 h; the good one 5 + 5 h alone, 9 h after it. In 9 h only the cheap one fits."""
    steps = steps_after(QUESTIONS, PRICES, [], float("inf"))
    assert [(step.work, step.hours) for step in steps] == [("cheap", 1.0), ("good", 10.0)]
    assert in_order(steps, QUESTIONS, PRICES, 10.0) == pytest.approx(2.0)
    assert in_order(steps, QUESTIONS, PRICES, 9.0) == pytest.approx(0.2)
    assert in_order(steps[::-1], QUESTIONS, PRICES, 9.9) == pytest.approx(0.2)
