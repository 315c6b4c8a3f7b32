"""Whitening by hand and by its definition."""

from pathlib import Path

import numpy as np
import pytest

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
