"""SG-OPT: its terms of given vectors, what is trained, what is frozen, and what each side reads."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from methods.core.errors import InputError
from methods.core.losses import info_nce
from methods.core.pooling import masked_mean
from methods.core.types import Row
from methods.sg_opt import objective
from methods.sg_opt.objective import (
    anchored_contrast,
    drawn_layer_contrast,
    layer_contrast,
    layer_terms,
    symmetric_contrast,
    weight_distance,
)
from tests.methods.sg_opt.sample import PAPER, RELEASED
from tests.support import tiny
from tests.support.vectors import assert_equal_with_gradients, drawn

PLAIN = {**PAPER, "freeze_embeddings": True}


def ready(backbone: Path, config: dict[str, Any], rows: list[Row] | None = None) -> tuple[Any, Any]:
    sample = tiny.Sample("sg-opt", "here", config)
    method = tiny.build(sample, backbone, parent=None, pooling="cls").train()
    return method, tiny.batch_of(method, corpus=rows)


def test_the_frozen_copy_gives_the_masked_mean_of_every_layer(backbone: Path) -> None:
    method, batch = ready(backbone, PLAIN)
    found = method.frozen(batch["anchor"])
    with torch.no_grad():
        output = method.frozen.module.encoder.backbone(**batch["anchor"], output_hidden_states=True)
    mask = batch["anchor"]["attention_mask"]
    expected = torch.stack([masked_mean(state, mask) for state in output.hidden_states], dim=1)
    assert found.shape == (6, 3, 16)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


def test_the_total_is_the_contrast_plus_lambda_times_the_distance(backbone: Path) -> None:
    method, batch = ready(backbone, PLAIN)
    for part in method.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    loss = method.loss(batch)
    anchors = method.head(method.encoder(batch["anchor"]))
    layers = method.head(method.frozen(batch["anchor"]))
    expected = objective.layer_contrast(anchors, layers, temperature=0.01)
    torch.testing.assert_close(loss.total, expected)
    with torch.no_grad():
        method.encoder.backbone.encoder.layer[0].output.dense.bias[3] += 0.5
    moved = method.loss(batch)
    assert moved.parts["distance"].item() == pytest.approx(0.25, rel=1e-6)
    torch.testing.assert_close(moved.total, moved.parts["contrast"] + 0.1 * moved.parts["distance"])


def test_embeddings_are_frozen_and_layers_and_head_are_trained(backbone: Path) -> None:
    method, batch = ready(backbone, RELEASED)
    method.loss(batch).total.backward()
    for name, value in method.named_parameters():
        assert (value.grad is None) == (".embeddings." in name), name
        assert value.requires_grad == (".embeddings." not in name), name


@pytest.mark.parametrize("active", [True, False])
def test_dropout_of_the_frozen_copy_is_as_stated_whatever_the_mode(backbone: Path, active: bool) -> None:
    method, batch = ready(backbone, {**RELEASED, "frozen_dropout": active})
    method.eval()
    method.train()
    first, second = method.frozen(batch["anchor"]), method.frozen(batch["anchor"])
    assert torch.equal(first, second) is not active


def test_a_layer_beyond_the_backbone_is_refused_in_one_line(backbone: Path) -> None:
    with pytest.raises(InputError, match=r"layers 0 to 4 of a backbone with 3 hidden states; expected"):
        ready(backbone, {**PLAIN, "last_layer": 4})


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
