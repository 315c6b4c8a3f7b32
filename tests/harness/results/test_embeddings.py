"""The store of embeddings: bytes, precision, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from harness.errors import InputError
from harness.results.embeddings import EmbeddingStore

TEXTS = ["a dog", "zwei H\u00fcnde", "line\nbreak", "\u2028 separator"]
VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3) / 8


def store(**options: str) -> EmbeddingStore:
    return EmbeddingStore.build(TEXTS, VECTORS, encoder_sha256="ab" * 32, **options)


def test_a_store_read_back_gives_its_vectors_in_any_order(tmp_path: Path) -> None:
    store().save(tmp_path)
    kept = EmbeddingStore.load(tmp_path)
    assert kept.texts == TEXTS
    assert kept.encoder_sha256 == "ab" * 32
    np.testing.assert_array_equal(kept.encode([TEXTS[3], TEXTS[0], TEXTS[3]]), VECTORS[[3, 0, 3]])


def test_equal_stores_have_equal_bytes(tmp_path: Path) -> None:
    for name in "ab":
        store().save(tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == ["meta.json", "texts.json", "vectors.npy"]
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_half_precision_is_the_default_and_single_an_option() -> None:
    assert store().vectors.dtype == np.float16
    assert store(precision="float32").vectors.dtype == np.float32


def test_scores_from_half_precision_are_equal_to_a_thousandth_of_a_point(tmp_path: Path) -> None:
    """A narrow cone, as an untrained encoder has it, is the hard case: cosines near 1."""
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=384) + 0.3 * rng.normal(size=(6000, 384))).astype(np.float32)
    texts = [str(number) for number in range(6000)]
    EmbeddingStore.build(texts, vectors, encoder_sha256="").save(tmp_path)
    kept = EmbeddingStore.load(tmp_path).encode(texts)
    assert kept.dtype == np.float16

    def cosines(rows: np.ndarray) -> np.ndarray:
        wide = rows.astype(np.float64)
        wide /= np.linalg.norm(wide, axis=1, keepdims=True)
        return (wide[:3000] * wide[3000:]).sum(axis=1)

    gold = cosines(vectors) + 0.001 * rng.normal(size=3000)
    exact, stored = (100 * spearmanr(gold, cosines(rows)).statistic for rows in (vectors, kept))
    assert exact != stored
    assert stored == pytest.approx(exact, abs=1e-3)


def test_a_text_that_is_not_kept_asks_for_the_model() -> None:
    with pytest.raises(InputError, match=r"1 of 2 texts .* 'a cat'.*with the model"):
        store().encode(["a dog", "a cat"])


BAD = {
    "texts occur twice": (["a", "a"], np.ones((2, 3))),
    "expected \\[2, d\\]": (["a", "b"], np.ones((3, 3))),
    "not finite in float16": (["a"], np.array([[1e6]])),
}


@pytest.mark.parametrize("said", BAD)
def test_what_cannot_be_kept_is_refused(said: str) -> None:
    assert len(BAD) == 3
    with pytest.raises(InputError, match=said):
        EmbeddingStore.build(*BAD[said], encoder_sha256="")


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(InputError, match="float16 or float32"):
        store(precision="int8")


@pytest.mark.parametrize("name", ["texts.json", "vectors.npy", "meta.json"])
@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_damaged_store_is_refused(name: str, damage: str, tmp_path: Path) -> None:
    store().save(tmp_path)
    path = tmp_path / name
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(InputError, match="evaluate the model"):
        EmbeddingStore.load(tmp_path)
