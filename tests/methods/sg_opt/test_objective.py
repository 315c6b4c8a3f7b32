"""The terms of SG-OPT: worked by hand, against loops written from the formulas, and at their limits."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from methods.core.losses import info_nce
from methods.sg_opt.objective import (
    anchored_contrast,
    drawn_layer_contrast,
    layer_contrast,
    layer_terms,
    symmetric_contrast,
    weight_distance,
)
from tests.support.vectors import assert_equal_with_gradients, drawn

BATCH, LAYERS, WIDTH, TEMPERATURE = 5, 3, 7, 0.3


def score(x: Tensor, y: Tensor) -> Tensor:
    return (x @ y) / (x.norm() * y.norm()) / TEMPERATURE


def slow_layer_contrast(anchors: Tensor, layers: Tensor) -> Tensor:
    """The mean over i and k, each term written out with the exponentials of its denominator."""
    terms = []
    for i in range(len(anchors)):
        for k in range(layers.shape[1]):
            own = score(anchors[i], layers[i, k])
            others = [
                score(anchors[i], layers[j, n]).exp()
                for j in range(len(anchors))
                if j != i
                for n in range(layers.shape[1])
            ]
            terms.append(-own + (own.exp() + sum(others)).log())
    return torch.stack(terms).mean()


def slow_opt1(anchors: Tensor, others: Tensor) -> Tensor:
    terms = []
    for i in range(len(anchors)):
        own = score(anchors[i], others[i])
        rest = [
            score(anchors[i], side[j]).exp() for side in (anchors, others) for j in range(BATCH) if j != i
        ]
        terms.append(-own + (own.exp() + sum(rest)).log())
    return torch.stack(terms).mean()


def slow_opt2(anchors: Tensor, others: Tensor, *, skip: bool) -> Tensor:
    terms = []
    for i in range(len(anchors)):
        own = score(anchors[i], others[i])
        negatives = [j for j in range(BATCH) if j != i][skip:]
        rest = [score(anchors[i], others[j]).exp() for j in negatives]
        terms.append(-own + (own.exp() + sum(rest)).log())
    return torch.stack(terms).mean()


def test_layer_contrast_and_its_gradients_equal_the_loop() -> None:
    anchors, layers = drawn(BATCH, WIDTH), drawn(BATCH, LAYERS, WIDTH, seed=1)
    fast = layer_contrast(anchors, layers, temperature=TEMPERATURE)
    assert_equal_with_gradients(fast, slow_layer_contrast(anchors, layers), (anchors, layers))


def test_drawn_layer_objectives_and_their_gradients_equal_the_loops() -> None:
    anchors, others = drawn(BATCH, WIDTH), drawn(BATCH, WIDTH, seed=1)
    one = anchored_contrast(anchors, others, temperature=TEMPERATURE)
    assert_equal_with_gradients(one, slow_opt1(anchors, others), (anchors, others))
    for negatives, skip in (("all", False), ("skip-first", True)):
        two = drawn_layer_contrast(anchors, others, temperature=TEMPERATURE, negatives=negatives)
        assert_equal_with_gradients(two, slow_opt2(anchors, others, skip=skip), (anchors, others))
    both = symmetric_contrast(anchors, others, temperature=TEMPERATURE)
    slow = (slow_opt1(anchors, others) + slow_opt1(others, anchors)) / 2
    assert_equal_with_gradients(both, slow, (anchors, others))


@pytest.mark.parametrize(("batch", "layers", "expected"), [(4, 3, 2.302585093), (16, 13, math.log(196))])
def test_vectors_of_one_direction_give_the_logarithm_of_the_count(
    batch: int, layers: int, expected: float
) -> None:
    """1 + (B - 1) K terms are equal: B = 4, K = 3 gives log 10; B = 16, K = 13 gives log 196 = 5.278."""
    anchors = torch.ones(batch, 6, dtype=torch.float64) * torch.arange(1.0, batch + 1)[:, None]
    states = torch.full((batch, layers, 6), 2.5, dtype=torch.float64)
    assert layer_contrast(anchors, states, temperature=0.01).item() == pytest.approx(expected, abs=1e-9)


def test_one_sentence_gives_zero_and_no_gradient_whatever_the_layers() -> None:
    anchors, layers = drawn(1, WIDTH), drawn(1, LAYERS, WIDTH, seed=1)
    total = layer_contrast(anchors, layers, temperature=0.01)
    assert total.item() == pytest.approx(0.0, abs=1e-12)
    for gradient in torch.autograd.grad(total, (anchors, layers)):
        assert gradient.abs().max().item() < 1e-10


def test_two_sentences_of_two_layers_are_worked_by_hand() -> None:
    """Anchors e1, e2; layers e1, e2 of sentence 0 and e2, -e1 of sentence 1; temperature 1.

    Anchor 0: own 1, 0; others 0, -1. Terms: log(e + 1 + 1/e) - 1 and log(1 + 1 + 1/e) - 0.
    Anchor 1: own 1, 0; others 0, 1. Terms: log(e + 1 + e) - 1 and log(1 + 1 + e) - 0.
    """
    first, second = torch.eye(2, dtype=torch.float64)
    layers = torch.stack([torch.stack([first, second]), torch.stack([second, -first])])
    terms = layer_terms(torch.stack([first, second]), layers, temperature=1.0)
    e = math.e
    expected = [
        [math.log(e + 1 + 1 / e) - 1, math.log(2 + 1 / e)],
        [math.log(2 * e + 1) - 1, math.log(2 + e)],
    ]
    torch.testing.assert_close(terms, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-12)


def test_one_layer_is_one_sided_info_nce() -> None:
    anchors, layers = drawn(BATCH, WIDTH), drawn(BATCH, 1, WIDTH, seed=1)
    one = layer_contrast(anchors, layers, temperature=TEMPERATURE)
    other = info_nce(anchors, layers[:, 0], temperature=TEMPERATURE)
    assert_equal_with_gradients(one, other, (anchors, layers))


def test_the_released_normaliser_is_twice_the_mean() -> None:
    anchors, others = drawn(BATCH, WIDTH), drawn(BATCH, WIDTH, seed=1)
    mean = symmetric_contrast(anchors, others, temperature=TEMPERATURE)
    double = symmetric_contrast(anchors, others, temperature=TEMPERATURE, normaliser="sum-over-batch")
    torch.testing.assert_close(double, 2 * mean)


def test_skipping_the_first_other_sentence_leaves_two_less_than_the_batch() -> None:
    """All vectors equal: B - 2 negatives and the positive give log(B - 1), without the slip log B."""
    same = torch.ones(BATCH, WIDTH, dtype=torch.float64)
    skipped = drawn_layer_contrast(same, same, temperature=0.01, negatives="skip-first")
    assert skipped.item() == pytest.approx(math.log(BATCH - 1))
    assert drawn_layer_contrast(same, same, temperature=0.01).item() == pytest.approx(math.log(BATCH))


def test_the_distance_is_a_sum_of_squares_with_twice_the_difference_as_gradient() -> None:
    """Differences 1, -2 and 3: 1 + 4 + 9 = 14; at the start 0 with zero gradient."""
    start = [torch.zeros(2, dtype=torch.float64), torch.ones(1, dtype=torch.float64)]
    tuned = [torch.tensor([1.0, -2.0], dtype=torch.float64), torch.tensor([4.0], dtype=torch.float64)]
    tuned = [value.requires_grad_() for value in tuned]
    distance = weight_distance(tuned, start)
    assert distance.item() == 14.0
    gradients = torch.autograd.grad(distance, tuned)
    assert [value.tolist() for value in gradients] == [[2.0, -4.0], [6.0]]
    equal = [value.clone().requires_grad_() for value in start]
    still = weight_distance(equal, start)
    assert still.item() == 0.0
    assert not any(bool(value.any()) for value in torch.autograd.grad(still, equal))
    with pytest.raises(ValueError, match="shorter"):
        weight_distance(tuned, start[:1])
