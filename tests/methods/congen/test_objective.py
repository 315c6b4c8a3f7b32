"""ConGen's terms: worked numbers, the double loop in float64 with gradients, limits."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from methods.ckd.objective import contrastive_distillation
from methods.congen.objective import distribution_distillation
from methods.core.distributions import Match
from methods.core.losses import unit

QUEUE = torch.tensor([[0.0, 1.0]], dtype=torch.float64)
TEACHERS = torch.tensor([[1.0, 0.0], [0.6, 0.8]], dtype=torch.float64)
CONTROL = torch.tensor([[0.6, 0.8], [0.0, 1.0]], dtype=torch.float64)
GENERALISE = torch.tensor([[1.0, 0.0], [0.8, -0.6]], dtype=torch.float64)


def vectors(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def terms(
    students: Tensor, teachers: Tensor, queue: Tensor, tau_t: float = 0.25, tau_s: float = 0.5
) -> Match:
    return distribution_distillation(
        students, teachers, queue, teacher_temperature=tau_t, student_temperature=tau_s
    )


def double_loop(students: Tensor, teachers: Tensor, queue: Tensor, tau_t: float, tau_s: float) -> Tensor:
    """Returns [V]: for every sentence and column, target share times the logarithm of the student's share."""
    columns = [*queue, *teachers]
    values = []
    for view in students:
        total = torch.zeros((), dtype=torch.float64)
        for s, t in zip(view, teachers, strict=True):
            s = s / (s * s).sum().sqrt()
            target = [((t * q).sum() / tau_t).exp() for q in columns]
            online = [((s * q).sum() / tau_s).exp() for q in columns]
            for p, c in zip(target, online, strict=True):
                total = total - (p / sum(target)) * (c / sum(online)).log()
        values.append(total / len(teachers))
    return torch.stack(values)


def test_the_worked_example() -> None:
    """Columns (0, 1), (1, 0), (.6, .8); temperatures 1/4 and 1/2. The first teacher row scores 0, 1, .6, so
    its target is as e^0, e^4, e^2.4. The terms are 1.245294 and 1.293464, their mean is the loss 1.269379,
    the target's entropy 0.719324, so the second divergence is 0.574140."""
    found = terms(torch.stack([CONTROL, GENERALISE]), TEACHERS, QUEUE)
    first = [math.exp(4 * score) for score in (0.0, 1.0, 0.6)]
    second = [math.exp(4 * score) for score in (0.8, 0.6, 1.0)]
    shares = [[value / sum(row) for value in row] for row in (first, second)]
    entropy = -sum(p * math.log(p) for row in shares for p in row) / 2
    assert found.entropy.item() == pytest.approx(entropy, abs=1e-12)
    assert found.cross_entropy.tolist() == pytest.approx([1.245294, 1.293464], abs=5e-7)
    assert found.cross_entropy.mean().item() == pytest.approx(1.269379, abs=5e-7)
    assert found.entropy.item() == pytest.approx(0.719324, abs=5e-7)
    assert found.divergence[1].item() == pytest.approx(0.574140, abs=5e-7)


@pytest.mark.parametrize(("batch", "rows"), [(5, 17), (1, 3), (4, 0)])
def test_the_terms_equal_a_double_loop_with_gradients_to_1e_8(batch: int, rows: int) -> None:
    teachers, queue = unit(vectors(batch, 7, seed=1)), unit(vectors(rows, 7, seed=2))
    students = vectors(2, batch, 7, seed=3).requires_grad_()
    weights = torch.tensor([0.25, 0.75], dtype=torch.float64)
    fast = terms(students, teachers, queue, 0.1, 0.07).cross_entropy
    slow = double_loop(students, teachers, queue, 0.1, 0.07)
    torch.testing.assert_close(fast, slow, rtol=0, atol=1e-8)
    (quick,) = torch.autograd.grad((weights * fast).sum(), students)
    (plain,) = torch.autograd.grad((weights * slow).sum(), students)
    torch.testing.assert_close(quick, plain, rtol=0, atol=1e-8)


def test_no_term_is_below_the_entropy_and_equal_vectors_reach_it_without_gradient() -> None:
    teachers, queue = unit(vectors(5, 6, seed=1)), unit(vectors(9, 6, seed=2))
    students = torch.stack([teachers, vectors(5, 6, seed=3)]).requires_grad_()
    found = terms(students, teachers, queue, 0.2, 0.2)
    assert found.divergence[0].item() == pytest.approx(0.0, abs=1e-12)
    assert found.divergence[1].item() > 0.1
    (gradient,) = torch.autograd.grad(found.cross_entropy.sum(), students)
    assert gradient[0].abs().max().item() < 1e-12


def test_a_sharp_teacher_and_the_control_term_alone_are_ckd() -> None:
    """As tau_T goes to 0 the target is one-hot on the sentence's own vector: InfoNCE at 1 / tau_S."""
    teachers, queue = unit(vectors(6, 8, seed=4)), unit(vectors(20, 8, seed=5))
    students = vectors(1, 6, 8, seed=6)
    sharp = terms(students, teachers, queue, 0.005, 0.1)
    ckd = contrastive_distillation(students[0], teachers, queue, scale=10.0)
    assert sharp.cross_entropy.item() == pytest.approx(ckd.item(), abs=1e-9)
    assert sharp.entropy.item() == pytest.approx(0.0, abs=1e-9)
