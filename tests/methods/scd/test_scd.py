"""SCD: its terms for given vectors, the two rates, and the gradients of each term."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from methods.scd import objective
from tests.methods.scd.sample import SAMPLES
from tests.support import tiny
from tests.support.tiny import batch_of
from tests.support.vectors import assert_equal_with_gradients, cosine, drawn

WEIGHTS: dict[str, Any] = {
    "self_contrast_weight": 0.7,
    "self_contrast_scale": 20.0,
    "self_contrast_reduction": "mean",
    "decorrelation_weight": 0.3,
    "off_diagonal_weight": 0.2,
}


def normal(rows: Tensor) -> Tensor:
    return nn.BatchNorm1d(rows.shape[1], affine=False).double()(rows)


def test_terms_have_their_worked_values() -> None:
    """Views (1,0), (0,2), (2,1) and (1,1), (0,2), (3,1); the projector leaves them as they are.

    Cosines are 1 / sqrt 2, 1 and 7 / sqrt 50: their mean is .899019. The correlations are .9820 and
    -.8660, -.3273 and .8660.
    """
    first = torch.tensor([[1, 0], [0, 2], [2, 1]], dtype=torch.float64)
    second = torch.tensor([[1, 1], [0, 2], [3, 1]], dtype=torch.float64)
    assert objective.self_contrast(first, second, scale=1.0).item() == pytest.approx(0.899019, abs=5e-7)
    terms = objective.decorrelation(normal(first), normal(second))
    assert terms.diagonal_mean.item() == pytest.approx((0.9820 + 0.8660) / 2, abs=6e-5)
    assert terms.diagonal.item() == pytest.approx(0.018281, abs=5e-7)
    assert terms.off_diagonal.item() == pytest.approx(0.857096, abs=5e-7)


def slow(a: Tensor, b: Tensor, p: Tensor, q: Tensor, *, summed: bool) -> Tensor:
    """The formula one sentence and one pair of columns at a time."""
    cosines = torch.stack([cosine(low, high) for low, high in zip(a, b, strict=True)])
    total = 0.7 * 20.0 * (cosines.sum() if summed else cosines.mean())
    for i in range(p.shape[1]):
        for j in range(q.shape[1]):
            entry = sum(p[n, i] * q[n, j] for n in range(len(p))) / len(p)
            total = total + 0.3 * ((entry - 1) ** 2 if i == j else 0.2 * entry**2)
    return total


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_loss_and_gradients_equal_the_loops(reduction: str) -> None:
    inputs = [drawn(5, 4, seed=0), drawn(5, 4, seed=1), drawn(5, 3, seed=2), drawn(5, 3, seed=3)]
    fast = objective.scd_loss(*inputs, **{**WEIGHTS, "self_contrast_reduction": reduction}).total
    assert_equal_with_gradients(fast, slow(*inputs, summed=reduction == "sum"), inputs)


def test_two_sentences_have_correlations_of_plus_or_minus_one() -> None:
    """D = 3 columns, of which one disagrees: 4 on the diagonal and D^2 - D = 6 off it."""
    first = torch.tensor([[1.0, 1, 1], [-1, -1, -1]])
    second = torch.tensor([[1.0, 1, -1], [-1, -1, 1]])
    terms = objective.decorrelation(first, second)
    assert (terms.diagonal.item(), terms.off_diagonal.item()) == (4.0, 6.0)
    parts = objective.scd_loss(first, second, first, second, **WEIGHTS).parts
    assert parts["off_diagonal_rms"].item() == 1.0, "the root of 6 over 6 entries"


@pytest.mark.parametrize(("count", "width"), [(5, 12), (12, 5)])
def test_decorrelation_equals_the_whole_matrixs(count: int, width: int) -> None:
    """With fewer and more rows than columns."""
    first, second = (drawn(count, width, seed=seed) for seed in (9, 10))
    matrix = first.T @ second / count
    diagonal = matrix.diagonal()
    expected = (diagonal - 1).square().sum(), (matrix - torch.diag(diagonal)).square().sum(), diagonal.mean()
    for fast, slow in zip(objective.decorrelation(first, second), expected, strict=True):
        assert_equal_with_gradients(fast, slow, [first, second], atol=1e-12)


def test_columns_without_correlation_have_a_part_of_zero_and_no_nan() -> None:
    """Two columns at right angles: nothing is left off the diagonal but rounding, which may be below 0."""
    views = 0.98 * torch.tensor([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    loss = objective.scd_loss(views, views, views, views, **WEIGHTS)
    assert loss.parts["off_diagonal_rms"].item() == pytest.approx(0, abs=1e-3)


def test_the_scale_weighs_one_term_alone() -> None:
    vectors = [drawn(5, 4, seed=seed) for seed in range(4)]
    unscaled, twenty = (
        objective.scd_loss(*vectors, **{**WEIGHTS, "self_contrast_scale": scale}) for scale in (1.0, 20.0)
    )
    torch.testing.assert_close(twenty.parts["self_contrast"], 20 * unscaled.parts["self_contrast"])
    torch.testing.assert_close(twenty.parts["decorrelation"], unscaled.parts["decorrelation"])
    difference = 0.7 * 19 * unscaled.parts["self_contrast"]
    torch.testing.assert_close(twenty.total - unscaled.total, difference)


def test_each_view_has_its_own_rate(backbone: Path) -> None:
    """At rate 0 the first view is the vector without dropout, whatever the second's rate is."""
    method = tiny.changed(SAMPLES[0], backbone, dropout_low=0.0, dropout_high=0.5)
    tokens = batch_of(method)["anchor"]
    first, second = method.vectors(tokens)
    rates = {part.p for part in method.encoder.modules() if isinstance(part, nn.Dropout)}
    assert rates == {0.1}
    method.eval()
    torch.testing.assert_close(first, method.encoder(tokens), rtol=0, atol=1e-6)
    assert not torch.allclose(second, first, atol=1e-2)


def test_half_precision_vectors_have_the_decorrelation_of_their_fp32_values_under_autocast() -> None:
    first, second = (drawn(4, 3, seed=seed).detach().bfloat16() for seed in (1, 2))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        actual = objective.decorrelation(first, second)
    expected = objective.decorrelation(first.float(), second.float())
    torch.testing.assert_close(tuple(actual), tuple(expected), rtol=0, atol=0)
