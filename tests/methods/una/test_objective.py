"""The two losses of a UNA step: worked vectors, double loops with gradients, limits and invariances."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from methods.core.losses import nt_xent
from methods.una.objective import column_loss, pair_loss
from tests.methods.una.reference import slow_column, slow_pair
from tests.support.vectors import assert_equal_with_gradients


def views(count: int, *, size: int = 5, width: int = 7, seed: int = 0) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    made = torch.randn(count, size, width, generator=generator, dtype=torch.float64)
    return [view.requires_grad_() for view in made.unbind()]


def fixed() -> tuple[Tensor, Tensor, Tensor]:
    """Two sentences on the unit circle, their positives, and one copy each."""
    anchors = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    positives = torch.tensor([[0.6, 0.8], [-0.6, 0.8]], dtype=torch.float64)
    copies = torch.tensor([[0.8, 0.6], [0.8, -0.6]], dtype=torch.float64)
    return anchors, positives, copies


@pytest.mark.parametrize(("tau", "value"), [(0.5, 1.28255559), (0.05, 1.85249484)])
def test_pair_has_its_worked_value(tau: float, value: float) -> None:
    anchors, positives, copies = fixed()
    assert pair_loss(anchors, positives, copies, copies, temperature=tau).item() == pytest.approx(
        value, abs=1e-7
    )


@pytest.mark.parametrize(("tau", "value"), [(0.5, 1.18299587), (0.05, 3.16130723)])
def test_column_has_its_worked_value(tau: float, value: float) -> None:
    anchors, positives, copies = fixed()
    assert column_loss(anchors, positives, copies, temperature=tau).item() == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("role", ["pair", "column"])
def test_loss_and_gradients_equal_the_double_loop(role: str) -> None:
    fast, slow = (pair_loss, slow_pair) if role == "pair" else (column_loss, slow_column)
    inputs = views(4 if role == "pair" else 3)
    expected = slow(*inputs, 0.3)
    found = fast(*inputs, temperature=0.3)
    assert_equal_with_gradients(found, expected, inputs)
    gradients = torch.autograd.grad(found, inputs)
    assert all(gradient.norm(dim=1).min() > 0 for gradient in gradients), "nothing is detached"


@pytest.mark.parametrize(("sentences", "value"), [(64, 5.5412635), (32, 4.8441871)])
def test_pair_is_log_4b_minus_1_when_all_vectors_are_equal(sentences: int, value: float) -> None:
    same = torch.ones(sentences, 3, dtype=torch.float64)
    assert pair_loss(same, same, same, same, temperature=0.05).item() == pytest.approx(value, abs=1e-7)
    assert column_loss(same, same, same, temperature=0.05).item() == pytest.approx(
        math.log(3 * sentences - 1), abs=1e-7
    )


def test_pair_of_orthogonal_sentences_is_the_sum_of_far_terms() -> None:
    """M = 128 pairs, all orthogonal to each other: log(1 + 254 e^-20) = 5.2353288e-7."""
    basis = torch.eye(128, dtype=torch.float64)
    anchors, copies = basis[:64], basis[64:]
    loss = pair_loss(anchors, anchors, copies, copies, temperature=0.05).item()
    assert loss == pytest.approx(5.2353288e-7, rel=1e-6)


def test_copies_that_equal_their_sentence_leave_a_floor_of_log_3() -> None:
    """Every row sees three equally near vectors, one of which is its partner."""
    basis = torch.eye(8, dtype=torch.float64)
    assert pair_loss(basis, basis, basis, basis, temperature=0.05).item() == pytest.approx(
        math.log(3), abs=1e-6
    )


def test_pair_is_the_plain_loss_over_sentences_and_copies_and_column_without_copies_is_plain() -> None:
    anchors, positives, first, second = (view.detach() for view in views(4))
    stacked = nt_xent(torch.cat([anchors, first]), torch.cat([positives, second]), temperature=0.3)
    torch.testing.assert_close(pair_loss(anchors, positives, first, second, temperature=0.3), stacked)
    torch.testing.assert_close(
        column_loss(anchors, positives, first[:0], temperature=0.3),
        nt_xent(anchors, positives, temperature=0.3),
    )
