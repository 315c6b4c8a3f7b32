"""ConSERT's objective: worked by hand, against loops written from its logits, and at its limits."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from methods.consert.objective import one_side, two_sides
from methods.core.losses import nt_xent
from tests.support.vectors import assert_equal_with_gradients, drawn

BATCH, WIDTH, TEMPERATURE = 5, 7, 0.1


def slow(first: Tensor, second: Tensor) -> Tensor:
    """The sum over both views of the mean over anchors, every exponential written out."""

    def score(x: Tensor, y: Tensor) -> Tensor:
        return (x @ y) / (x.norm() * y.norm()) / TEMPERATURE

    total = torch.zeros((), dtype=torch.float64)
    for own, other in ((first, second), (second, first)):
        for i in range(len(own)):
            terms = [score(own[i], other[j]).exp() for j in range(len(own))]
            terms += [score(own[i], own[j]).exp() for j in range(len(own)) if j != i]
            total = total + (sum(terms).log() - score(own[i], other[i])) / len(own)
    return total


def test_value_and_gradients_equal_the_loop() -> None:
    first, second = drawn(BATCH, WIDTH, seed=0), drawn(BATCH, WIDTH, seed=1)
    fast = two_sides(first, second, temperature=TEMPERATURE)
    assert_equal_with_gradients(fast, slow(first, second), (first, second))


def test_equal_vectors_give_twice_the_logarithm_of_the_count() -> None:
    """Each anchor picks one of 2B - 1 equal vectors: B = 4 gives 2 log 7 = 3.891820298; B = 1 gives 0."""
    same = torch.full((4, WIDTH), 0.7, dtype=torch.float64)
    assert two_sides(same, same, temperature=0.1).item() == pytest.approx(3.891820298, abs=1e-9)
    assert two_sides(same[:1], same[:1], temperature=0.1).item() == 0.0


def test_two_orthogonal_sentences_are_worked_by_hand() -> None:
    """Views equal, sentences orthogonal, tau = 1: three terms e, 1, 1 per anchor; twice log(e + 2) - 1."""
    vectors = torch.eye(2, dtype=torch.float64)
    expected = 2 * (math.log(math.e + 2) - 1)
    assert two_sides(vectors, vectors, temperature=1.0).item() == pytest.approx(expected, abs=1e-12)
    assert one_side(vectors, vectors, temperature=1.0).item() == pytest.approx(expected / 2, abs=1e-12)


def test_the_sum_is_twice_nt_xent_with_equal_gradients() -> None:
    first, second = drawn(BATCH, WIDTH, seed=0), drawn(BATCH, WIDTH, seed=1)
    ours = two_sides(first, second, temperature=TEMPERATURE)
    theirs = 2 * nt_xent(first, second, temperature=TEMPERATURE)
    assert_equal_with_gradients(ours, theirs, (first, second), atol=1e-12)
