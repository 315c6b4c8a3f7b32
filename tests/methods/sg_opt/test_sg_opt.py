"""SG-OPT: its terms for given vectors, trained and frozen parts, and inputs of each side."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from methods.core.errors import InputError
from methods.core.losses import info_nce
from methods.core.pooling import masked_mean
from methods.core.rows import Row
from methods.sg_opt import objective
from methods.sg_opt.method import WideHead
from methods.sg_opt.objective import (
    anchored_contrast,
    drawn_layer_contrast,
    layer_contrast,
    layer_terms,
    symmetric_contrast,
    weight_distance,
)
from tests.methods.sg_opt.sample import BACK_TRANSLATION, PAPER, RELEASED
from tests.support import tiny
from tests.support.vectors import assert_equal_with_gradients, cosine, drawn

PLAIN = {**PAPER, "freeze_embeddings": True}


def ready(backbone: Path, config: dict[str, Any], rows: list[Row] | None = None) -> tuple[Any, Any]:
    sample = tiny.Sample("sg-opt", "here", config)
    method = tiny.build(sample, backbone, parent=None, pooling="cls").train()
    return method, tiny.batch_of(method, corpus=rows)


def test_the_frozen_copy_gives_the_masked_mean_of_every_layer(backbone: Path) -> None:
    method, batch = ready(backbone, PLAIN)
    actual = method.frozen(batch["anchor"])
    with torch.no_grad():
        output = method.frozen.module.encoder.backbone(**batch["anchor"], output_hidden_states=True)
    mask = batch["anchor"]["attention_mask"]
    expected = torch.stack([masked_mean(state, mask) for state in output.hidden_states], dim=1)
    assert actual.shape == (6, 3, 16)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("first", "last", "read"), [(0, 2, [0, 1]), (1, 2, [1]), (1, 3, [1, 2]), (2, None, [2])]
)
def test_layers_are_counted_from_the_embeddings_up_to_the_last_one_exclusive(
    backbone: Path, first: int, last: int | None, read: list[int]
) -> None:
    """Of the hidden states 0, 1 and 2 of two layers."""
    method, batch = ready(backbone, {**PLAIN, "first_layer": first, "last_layer": last})
    every, _ = ready(backbone, PLAIN)
    assert method.layer_count == len(read)
    torch.testing.assert_close(method.frozen(batch["anchor"]), every.frozen(batch["anchor"])[:, read])


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


def test_back_translations_are_read_behind_their_sentences(backbone: Path) -> None:
    rows = tiny.rows(augmentations=2)
    method, batch = ready(backbone, BACK_TRANSLATION, rows)
    texts = [row.columns[column] for column in (0, 1) for row in rows[:6]]
    assert torch.equal(batch["anchor"]["input_ids"], method.encoder.tokenize(texts)["input_ids"])


@pytest.mark.parametrize("active", [True, False])
def test_dropout_of_the_frozen_copy_follows_the_setting_in_either_mode(backbone: Path, active: bool) -> None:
    method, batch = ready(backbone, {**RELEASED, "frozen_dropout": active})
    method.eval()
    method.train()
    first, second = method.frozen(batch["anchor"]), method.frozen(batch["anchor"])
    assert torch.equal(first, second) is not active


def test_a_layer_beyond_the_backbone_is_refused_in_one_line(backbone: Path) -> None:
    with pytest.raises(InputError, match=r"layers 0 to 4 of a backbone with 3 hidden states; use null"):
        ready(backbone, {**PLAIN, "last_layer": 4})


BATCH, LAYERS, WIDTH, TEMPERATURE = 5, 3, 7, 0.3


def slow(anchors: Tensor, positives: Tensor, negatives: list[list[Tensor]]) -> Tensor:
    """The mean over anchors, each term written out with the exponentials of its denominator."""
    terms = []
    for anchor, positive, others in zip(anchors, positives, negatives, strict=True):
        positive_logit = cosine(anchor, positive) / TEMPERATURE
        rest = [(cosine(anchor, other) / TEMPERATURE).exp() for other in others]
        terms.append(-positive_logit + (positive_logit.exp() + sum(rest)).log())
    return torch.stack(terms).mean()


def without(rows: Tensor) -> list[list[Tensor]]:
    """Returns for every row the others."""
    return [[other for j, other in enumerate(rows) if j != i] for i in range(len(rows))]


def test_layer_contrast_and_its_gradients_equal_the_loop() -> None:
    anchors, layers = drawn(BATCH, WIDTH), drawn(BATCH, LAYERS, WIDTH, seed=1)
    fast = layer_contrast(anchors, layers, temperature=TEMPERATURE)
    negatives = [[state for states in others for state in states] for others in without(layers)]
    expected = torch.stack([slow(anchors, layers[:, k], negatives) for k in range(LAYERS)]).mean()
    assert_equal_with_gradients(fast, expected, (anchors, layers))


def test_drawn_layer_objectives_and_their_gradients_equal_the_loops() -> None:
    anchors, others = drawn(BATCH, WIDTH), drawn(BATCH, WIDTH, seed=1)
    both_sides = [
        of_anchors + of_others
        for of_anchors, of_others in zip(without(anchors), without(others), strict=True)
    ]
    skipped = [row[1:] for row in without(others)]
    settings: dict[str, Any] = {"temperature": TEMPERATURE}
    one_sided = slow(anchors, others, both_sides)
    for actual, expected in (
        (anchored_contrast(anchors, others, **settings), one_sided),
        (drawn_layer_contrast(anchors, others, **settings), slow(anchors, others, without(others))),
        (
            drawn_layer_contrast(anchors, others, **settings, negatives="skip-first"),
            slow(anchors, others, skipped),
        ),
        (
            symmetric_contrast(anchors, others, **settings),
            (one_sided + slow(others, anchors, both_sides)) / 2,
        ),
    ):
        assert_equal_with_gradients(actual, expected, (anchors, others))


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
    loss = layer_contrast(anchors, layers, temperature=TEMPERATURE)
    other = info_nce(anchors, layers[:, 0], temperature=TEMPERATURE)
    assert_equal_with_gradients(loss, other, (anchors, layers))


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
    """Differences 1, -2 and 3: 1 + 4 + 9 = 14; at the start 0."""
    start = [torch.zeros(2), torch.ones(1)]
    tuned = [torch.tensor([1.0, -2.0], requires_grad=True), torch.tensor([4.0], requires_grad=True)]
    distance = weight_distance(tuned, start)
    assert distance.item() == 14.0
    gradients = torch.autograd.grad(distance, tuned)
    assert [value.tolist() for value in gradients] == [[2.0, -4.0], [6.0]]
    assert weight_distance(start, start).item() == 0.0


@pytest.mark.parametrize("shape", [(5, 64), (5, 3, 64)])
def test_the_wide_head_is_two_dense_layers_each_with_the_exact_gelu(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    head, given = WideHead(64, 96), torch.randn(shape, requires_grad=True)
    leaves = [given, *head.parameters()]
    (first, _, second, _), hidden = head, given
    for dense in (first, second):
        hidden = hidden @ dense.weight.T + dense.bias
        hidden = hidden * (1 + torch.erf(hidden / 2**0.5)) / 2
    weights = torch.randn(*shape[:-1], 96)
    expected = torch.autograd.grad((hidden * weights).sum(), leaves)
    made = head(given)
    actual = torch.autograd.grad((made * weights).sum(), leaves)
    torch.testing.assert_close(made, hidden, rtol=1e-4, atol=1e-6)
    for ours, plain in zip(actual, expected, strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-6)
    assert [tuple(part.shape) for part in leaves[1:]] == [(96, 64), (96,), (96, 96), (96,)]
