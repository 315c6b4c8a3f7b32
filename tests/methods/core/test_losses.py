"""Shared objectives against arithmetic by hand and slow double loops."""

import math

import pytest
import torch

from methods.core.losses import cosine_similarities, info_nce, nt_xent, uniformity, unit_squared_error
from tests.support.vectors import assert_equal_with_gradients, cosine, drawn


def slow_info_nce(anchors: torch.Tensor, keys: torch.Tensor, temperature: float) -> torch.Tensor:
    total = torch.zeros((), dtype=torch.float64)
    for i in range(len(anchors)):
        scores = [torch.exp(cosine(anchors[i], key) / temperature) for key in keys]
        total = total - torch.log(scores[i] / sum(scores))
    return total / len(anchors)


def slow_nt_xent(first: torch.Tensor, second: torch.Tensor, temperature: float) -> torch.Tensor:
    both, half = [*first, *second], len(first)
    total = torch.zeros((), dtype=torch.float64)
    for i in range(2 * half):
        scores = {j: torch.exp(cosine(both[i], both[j]) / temperature) for j in range(2 * half) if j != i}
        total = total - torch.log(scores[(i + half) % (2 * half)] / sum(scores.values()))
    return total / (2 * half)


def test_info_nce_of_two_orthogonal_pairs_is_worked_by_hand() -> None:
    """Anchors e1, e2 equal to their positives, temperature 1: each row of logits is (1, 0) or (0, 1).

    Cross-entropy of each: log(e + 1) - 1 = 0.3132617.
    """
    eye = torch.eye(2)
    assert info_nce(eye, eye, temperature=1.0).item() == pytest.approx(math.log(math.e + 1) - 1, abs=1e-6)


@pytest.mark.parametrize("further", [0, 3])
def test_info_nce_is_log_n_when_all_embeddings_are_equal(further: int) -> None:
    same = torch.ones(4, 5)
    negatives = torch.ones(further, 5) if further else None
    loss = info_nce(same, same, temperature=0.05, negatives=negatives)
    assert loss.item() == pytest.approx(math.log(4 + further), abs=1e-6)


@pytest.mark.parametrize("temperature", [0.05, 1.0])
def test_info_nce_equals_the_double_loop_with_gradients(temperature: float) -> None:
    anchors, positives, queue = drawn(5, 7), drawn(5, 7, seed=1), drawn(3, 7, seed=2)
    fast = info_nce(anchors, positives, temperature=temperature, negatives=queue)
    slow = slow_info_nce(anchors, torch.cat([positives, queue]), temperature)
    assert_equal_with_gradients(fast, slow, [anchors, positives, queue], atol=1e-10)


@pytest.mark.parametrize("temperature", [0.05, 1.0])
def test_nt_xent_equals_the_double_loop_with_gradients(temperature: float) -> None:
    first, second = drawn(4, 6), drawn(4, 6, seed=1)
    fast, slow = nt_xent(first, second, temperature=temperature), slow_nt_xent(first, second, temperature)
    assert_equal_with_gradients(fast, slow, [first, second], atol=1e-10)


def test_nt_xent_is_symmetric_and_log_2b_minus_1_at_equality() -> None:
    first, second = drawn(4, 6), drawn(4, 6, seed=1)
    loss = nt_xent(first, second, temperature=0.1).item()
    assert nt_xent(second, first, temperature=0.1).item() == pytest.approx(loss, abs=1e-12)
    same = torch.ones(4, 6)
    assert nt_xent(same, same, temperature=0.1).item() == pytest.approx(math.log(7), abs=1e-6)


def test_similarities_ignore_lengths_and_stay_in_fp32_under_autocast() -> None:
    queries, keys = drawn(3, 8).detach().float(), drawn(4, 8, seed=1).detach().float()
    expected = cosine_similarities(queries, keys)
    with torch.autocast("cpu", torch.bfloat16):
        inside = cosine_similarities(3 * queries, 0.5 * keys)
    assert inside.dtype == torch.float32
    torch.testing.assert_close(inside, expected, rtol=0, atol=1e-6)


def test_unit_squared_error_is_two_minus_two_cosines() -> None:
    """Right angle: 2. Opposite: 4. Equal direction of another length: 0. Mean: 2."""
    student = torch.tensor([[1.0, 0.0]] * 3)
    teacher = torch.tensor([[0.0, 2.0], [-3.0, 0.0], [5.0, 0.0]])
    assert unit_squared_error(student, teacher).item() == pytest.approx(2.0, abs=1e-6)


def test_uniformity_is_the_log_mean_over_pairs_of_distinct_rows() -> None:
    """Three rows, cosines 0, 0 and -1; temperature 1: the mean of e^-1, e^-1 and e^-2."""
    vectors = torch.tensor([[3.0, 0.0], [0.0, 1.0], [-2.0, 0.0]])
    expected = math.log((math.exp(-1) + math.exp(-1) + math.exp(-2)) / 3)
    assert uniformity(vectors, temperature=1.0).item() == pytest.approx(expected, abs=1e-6)
    assert uniformity(torch.ones(4, 6), temperature=0.05).item() == pytest.approx(0.0, abs=1e-5)


def test_uniformity_equals_wang_and_isolas_for_half_an_inverse_temperature() -> None:
    vectors = drawn(6, 5)
    unit_rows = torch.nn.functional.normalize(vectors, dim=1)
    theirs = torch.pdist(unit_rows).square().mul(-2).exp().mean().log()
    assert_equal_with_gradients(uniformity(vectors, temperature=0.25), theirs, [vectors], atol=1e-10)
