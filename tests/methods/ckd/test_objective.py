"""The contrastive distillation loss: worked numbers, the double loop in float64 with gradients, limits."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from methods.ckd.objective import contrastive_distillation
from methods.core.losses import info_nce, unit
from tests.support.vectors import assert_equal_with_gradients

QUEUE = torch.tensor([[0.0, 1.0]], dtype=torch.float64)
TEACHERS = torch.tensor([[1.0, 0.0], [0.6, 0.8]], dtype=torch.float64)
STUDENTS = torch.tensor([[0.6, 0.8], [0.0, 1.0]], dtype=torch.float64)
NOTHING = torch.zeros(0, 7, dtype=torch.float64)


def vectors(rows: int, width: int = 7, *, seed: int) -> Tensor:
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def double_loop(students: Tensor, teachers: Tensor, queue: Tensor, scale: Tensor) -> Tensor:
    total = torch.zeros((), dtype=torch.float64)
    for n, student in enumerate(students):
        q = student / (student * student).sum().sqrt()
        below = sum((scale * (q * k).sum()).exp() for k in [*teachers, *queue])
        total = total - ((scale * (q * teachers[n]).sum()).exp() / below).log()
    return total / len(students)


@pytest.mark.parametrize(("scale", "expected"), [(math.e, 1.390418), (20.0, 6.018315)])
def test_the_worked_example(scale: float, expected: float) -> None:
    """Row 1 has cosines .6 with its own vector, 1 with the other, .8 with the queue; row 2 has .8, 0 and 1.
    The loss is the mean of log(e^.6c + e^c + e^.8c) - .6c and log(e^0 + e^.8c + e^c) - .8c."""
    c = scale
    first = math.log(math.exp(0.6 * c) + math.exp(c) + math.exp(0.8 * c)) - 0.6 * c
    second = math.log(1 + math.exp(0.8 * c) + math.exp(c)) - 0.8 * c
    found = contrastive_distillation(STUDENTS, TEACHERS, QUEUE, scale=scale).item()
    assert found == pytest.approx((first + second) / 2, abs=1e-12)
    assert found == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(("batch", "rows"), [(5, 17), (1, 3), (4, 0)])
def test_the_loss_equals_a_double_loop_with_gradients_to_1e_8(batch: int, rows: int) -> None:
    """Gradients of the student and of a trained scale."""
    teachers, queue = unit(vectors(batch, seed=1)), unit(vectors(rows, seed=2))
    students = vectors(batch, seed=3).requires_grad_()
    scale = torch.tensor(6.5, dtype=torch.float64, requires_grad=True)
    fast = contrastive_distillation(students, teachers, queue, scale=scale)
    slow = double_loop(students, teachers, queue, scale)
    assert_equal_with_gradients(fast, slow, [students, scale])


def test_without_a_queue_it_is_in_batch_info_nce() -> None:
    students, teachers = vectors(5, seed=1), unit(vectors(5, seed=2))
    found = contrastive_distillation(students, teachers, NOTHING, scale=20.0)
    torch.testing.assert_close(found, info_nce(students, teachers, temperature=0.05), rtol=0, atol=1e-12)
    by_hand = functional.cross_entropy(20 * unit(students) @ teachers.T, torch.arange(5))
    torch.testing.assert_close(found, by_hand, rtol=0, atol=1e-12)


def test_equal_cosines_give_the_logarithm_of_their_number() -> None:
    """Batch 4 and a queue of 6: log 10, at any scale."""
    same = unit(torch.ones(10, 7, dtype=torch.float64))
    found = contrastive_distillation(same[:4], same[:4], same[4:], scale=31.0)
    assert found.item() == pytest.approx(math.log(10), abs=1e-12)


def test_widths_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected \[B, t\], \[B, t\], \[M, t\]"):
        contrastive_distillation(vectors(5, 6, seed=1), vectors(5, seed=2), NOTHING, scale=20.0)
