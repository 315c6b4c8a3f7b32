"""Whitening by hand and by its definition."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch

from methods.core.errors import InputError
from methods.whitening.method import fit
from tests.methods.whitening.sample import SAMPLES
from tests.support import tiny


def test_a_stretched_square_is_whitened_by_hand() -> None:
    """Corners (1 +- 4, 2 +- 1): mean (1, 2), variances 16 and 1, so the corners become (+-1, +-1)."""
    corners = np.array([[5.0, 3.0], [5.0, 1.0], [-3.0, 3.0], [-3.0, 1.0]])
    mean, weight = fit(corners, dim=2, whiten=True)
    np.testing.assert_allclose(mean, [1.0, 2.0])
    np.testing.assert_allclose(np.abs((corners - mean) @ weight), np.ones((4, 2)), atol=1e-12)
    np.testing.assert_allclose(np.abs(weight), [[0.25, 0.0], [0.0, 1.0]], atol=1e-12)
    _, largest = fit(corners, dim=1, whiten=True)
    np.testing.assert_array_equal(largest, weight[:, :1])


@pytest.mark.parametrize("dim", [3, 8])
def test_whitened_vectors_have_zero_mean_and_unit_covariance(dim: int) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(500, 8)) @ rng.normal(size=(8, 8)) + 3.0
    mean, weight = fit(vectors, dim=dim, whiten=True)
    white = (vectors - mean) @ weight
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(np.cov(white, rowvar=False, bias=True), np.eye(dim), atol=1e-9)


def test_centring_only_shifts() -> None:
    vectors = np.random.default_rng(0).normal(size=(20, 4)) + 5.0
    mean, weight = fit(vectors, dim=4, whiten=False)
    np.testing.assert_array_equal(weight, np.eye(4))
    np.testing.assert_allclose(mean, vectors.mean(axis=0))


def test_directions_without_variance_get_weight_zero() -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 3))
    vectors[:, 2] = 7.0
    mean, weight = fit(vectors, dim=3, whiten=True)
    assert np.isfinite(weight).all()
    np.testing.assert_allclose(((vectors - mean) @ weight)[:, 2], 0, atol=1e-9)


def test_one_sentence_is_refused() -> None:
    with pytest.raises(InputError, match="1 sentences"):
        fit(np.ones((1, 3)), dim=3, whiten=True)


def test_the_exported_encoder_centres_the_corpus(backbone: Path) -> None:
    method, rows = tiny.build(SAMPLES[2], backbone, parent=None), tiny.rows()
    method.prepare(rows)
    vectors = method.exported().encode([row.text for row in rows])
    np.testing.assert_allclose(vectors.mean(axis=0), 0, atol=1e-5)


def test_more_directions_than_the_width_are_refused(backbone: Path) -> None:
    with pytest.raises(InputError, match="dim 17 with an encoder of width 16"):
        tiny.changed(SAMPLES[0], backbone, dim=17)


@pytest.mark.parametrize("size", [1e-2, 1.0, 1e2])
def test_a_direction_has_weight_zero_below_a_millionth_of_the_largest_variance(size: float) -> None:
    """Corners of a box: variances 1, 0.81, 1.5e-6 and 0.7e-6 of the largest, whatever its size."""
    sides = size * np.sqrt([1.0, 0.81, 1.5e-6, 0.7e-6])
    corners = np.array(list(itertools.product(*((-side, side) for side in sides)))) + 3 * size
    _, weight = fit(corners, dim=4, whiten=True)
    expected = np.diag([*(1 / sides[:3]), 0.0])
    np.testing.assert_allclose(np.abs(weight), expected, rtol=1e-4, atol=1e-4 / size)


def test_two_sentences_are_enough_and_span_one_direction() -> None:
    """(0, 0) and (4, 0): mean (2, 0), variance 4 along the first axis."""
    mean, weight = fit(np.array([[0.0, 0.0], [4.0, 0.0]]), dim=2, whiten=True)
    np.testing.assert_allclose(mean, [2.0, 0.0])
    np.testing.assert_allclose(np.abs(weight), [[0.5, 0.0], [0.0, 0.0]], atol=1e-12)


def test_vectors_of_single_precision_are_fitted_in_double_precision() -> None:
    """A mean of 1,000 with deviations of 0.01 has no correct digit of the variance in single precision."""
    rng = np.random.default_rng(0)
    single = (1000 + 0.01 * rng.normal(size=(300, 3))).astype(np.float32)
    for ours, expected in zip(
        fit(single, dim=3, whiten=True), fit(single.astype(np.float64), dim=3, whiten=True), strict=True
    ):
        assert ours.dtype == np.float64
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("dim", [5, 16])
def test_the_exported_encoder_whitens_the_first_sentences_of_the_corpus(backbone: Path, dim: int) -> None:
    """Of a corpus the first 20 sentences are fitted, and others have another mean."""
    method, rows = tiny.changed(SAMPLES[0], backbone, dim=dim, sentences=20), tiny.rows()
    plain = tiny.sentence_encoder(backbone).encode([row.text for row in rows]).astype(np.float64)
    assert len(rows) > 20
    method.prepare(rows)
    actual = method.exported().encode([row.text for row in rows])
    first = tiny.sentence_encoder(backbone).encode([row.text for row in rows[:20]])
    mean, weight = fit(first, dim=dim, whiten=True)
    expected = (plain - mean) @ weight
    np.testing.assert_allclose(np.abs(actual), np.abs(expected), rtol=1e-3, atol=5e-2)
    np.testing.assert_allclose(actual[:20].mean(axis=0), 0, atol=1e-2)
    layer = method.exported().output
    assert torch.equal(layer.weight, torch.from_numpy(weight.T.copy()).float())
    assert torch.equal(layer.bias, torch.from_numpy(-mean @ weight).float())


def test_centring_to_fewer_directions_keeps_the_first_of_them() -> None:
    vectors = np.random.default_rng(0).normal(size=(20, 4)) + 5.0
    _, weight = fit(vectors, dim=2, whiten=False)
    np.testing.assert_array_equal(weight, np.eye(4)[:, :2])
