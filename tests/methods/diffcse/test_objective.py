"""DiffCSE's terms of given vectors: worked values, the slow version with gradients, limits."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from methods.core.errors import InputError
from methods.core.heads import BatchNormHead
from methods.diffcse import objective
from tests.methods.diffcse import reference
from tests.support.vectors import assert_equal_with_gradients, drawn


def parameters(head: BatchNormHead) -> list[Tensor]:
    wide, norm, _, narrow, _ = head
    return [wide.weight, norm.weight, norm.bias, narrow.weight]  # type: ignore[list-item]


def test_detection_has_its_worked_value() -> None:
    """The wrong class leads by -1, -1, -3 in the first row and by 0, 0, 1 in the second.

    So (2 log(1 + e^-1) + log(1 + e^-3) + 2 log 2 + log(1 + e)) / 6 = 0.562444.
    """
    logits = torch.tensor([[[1, 0], [0, 1], [2, -1]], [[0, 0], [1, 1], [-1, 0]]], dtype=torch.float64)
    labels = torch.tensor([[0, 1, 0], [0, 1, 0]])
    by_hand = (2 * math.log1p(math.exp(-1)) + math.log1p(math.exp(-3)) + 2 * math.log(2)) / 6
    by_hand += math.log1p(math.e) / 6
    found = objective.replaced_token_detection(logits, labels)
    assert found.item() == pytest.approx(by_hand, abs=1e-12) == pytest.approx(0.562444, abs=5e-7)


def test_projector_and_contrast_have_their_worked_values() -> None:
    """Views (1,2), (3,0) of one sentence, (2,2), (0,1) of the other: column variances are 1.25 and 0.6875."""
    rows = torch.tensor([[1, 2], [3, 0], [2, 2], [0, 1]], dtype=torch.float64)
    vectors = torch.nn.BatchNorm1d(2, affine=False).double()(rows)
    expected = [[-0.4472, 0.9045], [1.3416, -1.5075], [0.4472, 0.9045], [-1.3416, -0.3015]]
    torch.testing.assert_close(vectors, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=6e-5)
    first, second = vectors[::2], vectors[1::2]
    assert objective.contrast(first, second, temperature=0.05).item() == pytest.approx(14.54436, abs=5e-6)
    assert objective.contrast(first, second, temperature=1.0).item() == pytest.approx(1.145787, abs=5e-7)


@pytest.mark.parametrize("positions", ["all", "real"])
def test_loss_and_gradients_equal_the_loops(positions: objective.CountedPositions) -> None:
    head = BatchNormHead([4, 8, 4], first_bias=False).double()
    with torch.no_grad():
        for number, parameter in enumerate(parameters(head)):
            parameter.copy_(drawn(*parameter.shape, seed=number))
    pooled, logits = drawn(6, 4, seed=7), drawn(6, 5, 2, seed=8)
    mask = torch.arange(5) < torch.tensor([5, 3, 4, 5, 3, 4])[:, None]
    labels = (torch.arange(30).view(6, 5) % 3 == 0) & mask
    inputs = [pooled, logits, *parameters(head)]

    first, second = head(pooled).chunk(2)
    fast = objective.diffcse_loss(
        first, second, logits, labels, mask.long(), temperature=0.3, weight=0.7, positions=positions
    ).total
    vectors = reference.projector(pooled, *parameters(head))
    slow = reference.contrast(vectors[:3], vectors[3:], 0.3)
    slow = slow + 0.7 * reference.detection(logits, labels, mask, padding_counts=positions == "all")

    assert_equal_with_gradients(fast, slow, inputs)


def test_a_generator_that_repeats_the_sentence_leaves_the_log_probability_of_original() -> None:
    ids, mask, logits = torch.tensor([[2, 9, 3, 0]]), torch.tensor([[1, 1, 1, 0]]), drawn(1, 4, 2, seed=1)
    labels = objective.replaced(ids, ids, mask)
    assert not labels.any()
    found = objective.replaced_token_detection(logits, labels)
    torch.testing.assert_close(found, -logits.log_softmax(dim=-1)[..., 0].mean())


def test_padding_is_never_replaced_and_the_separator_may_be() -> None:
    original, written = torch.tensor([[2, 9, 3, 0]]), torch.tensor([[2, 9, 8, 7]])
    mask = torch.tensor([[1, 1, 1, 0]])
    assert objective.replaced(written, original, mask).tolist() == [[False, False, True, False]]


def test_a_column_of_padding_changes_the_mean_over_all_positions_alone() -> None:
    logits, labels = drawn(2, 3, 2, seed=2), torch.tensor([[0, 1, 0], [1, 0, 0]])
    mask = torch.ones(2, 3)
    wider = torch.cat([logits, torch.full((2, 1, 2), 0.5, dtype=torch.float64)], dim=1)
    more_labels, more_mask = (torch.cat([part, torch.zeros(2, 1)], dim=1).long() for part in (labels, mask))
    plain = objective.replaced_token_detection(logits, labels)
    expected = (6 * plain + 2 * math.log(2)) / 8
    torch.testing.assert_close(objective.replaced_token_detection(wider, more_labels), expected)
    torch.testing.assert_close(objective.replaced_token_detection(wider, more_labels, more_mask), plain)


def test_vectors_have_mean_0_and_almost_variance_1_and_forget_scale_and_shift() -> None:
    head, pooled = BatchNormHead([4, 8, 4], first_bias=False).double(), drawn(10, 4, seed=3).detach()
    with torch.no_grad():
        for parameter in parameters(head)[::3]:
            parameter.mul_(50)
    vectors = head(pooled)
    before = head[3](head[2](head[1](head[0](pooled))))
    variance = before.var(dim=0, correction=0)
    torch.testing.assert_close(vectors.mean(dim=0), torch.zeros(4, dtype=torch.float64), rtol=0, atol=1e-12)
    torch.testing.assert_close(vectors.var(dim=0, correction=0), variance / (variance + 1e-5))
    torch.testing.assert_close(head(3 * pooled + 2), vectors, rtol=0, atol=1e-3)


def test_the_projector_has_the_released_number_of_weights_and_refuses_one_row() -> None:
    head = BatchNormHead([768, 1536, 768], first_bias=False)
    assert sum(parameter.numel() for parameter in head.parameters()) == 2_362_368
    with pytest.raises(InputError, match="1 vector, expected at least 2; take a larger batch"):
        head(torch.zeros(1, 768))
