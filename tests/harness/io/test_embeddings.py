"""The store of embeddings: bytes, precision, memory, refusals, and cached copies."""

import os
import tracemalloc
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from scipy.stats import spearmanr

from harness.errors import InputError
from harness.io import embeddings
from harness.io.embeddings import EmbeddingStore, keep, kept_name, read_kept
from harness.io.outputs import room_of
from methods.core import encoder

TEXTS = ["a dog", "zwei H\u00fcnde", "line\nbreak", "\u2028 separator"]
NAMES = ("digests", "vectors")
VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3) / 8


def store(path: Path) -> EmbeddingStore:
    return EmbeddingStore.write(path, TEXTS, lambda _: VECTORS, encoder="ours")


def test_as_many_texts_are_encoded_at_a_time_as_an_encoder_sorts_together() -> None:
    """Otherwise the cut would change an encoder's batches, and with them the last digits of vectors."""
    assert embeddings.CHUNK == encoder.SHARD


@pytest.mark.parametrize("seed", range(3))
def test_a_store_written_in_many_parts_equals_a_dictionary_in_memory(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifteen parts of 7 texts, asked for texts drawn with repeats."""
    monkeypatch.setattr(embeddings, "CHUNK", 7)
    asked_of: list[int] = []
    rng = np.random.default_rng(seed)
    memory = {f"text {n}": rng.normal(size=5).astype(np.float16) for n in rng.permutation(100)}

    def encode(texts: Sequence[str]) -> np.ndarray:
        asked_of.append(len(texts))
        return np.stack([memory[text] for text in texts])

    written = EmbeddingStore.write(tmp_path / "s", list(memory), encode, encoder="ours")
    assert asked_of == [7] * 14 + [2]
    asked = [f"text {n}" for n in rng.integers(100, size=300)]
    for reader in (written, EmbeddingStore.load(tmp_path / "s")):
        np.testing.assert_array_equal(reader.encode(asked), encode(asked))


def test_equal_stores_have_equal_bytes_for_any_order_of_their_texts(tmp_path: Path) -> None:
    store(tmp_path / "a")
    EmbeddingStore.write(tmp_path / "b", TEXTS[::-1], lambda _: VECTORS[::-1], encoder="ours")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_safetensors_reads_a_store(tmp_path: Path) -> None:
    """The library checks the header against the file's size; rows are in the order of the digests."""
    store(tmp_path / "s")
    tables = load_file(tmp_path / "s")
    digests = {row.tobytes(): vector for row, vector in zip(*map(tables.get, NAMES), strict=True)}
    for text, vector in zip(TEXTS, VECTORS, strict=True):
        expected = blake2b(text.encode(), digest_size=16).digest()
        np.testing.assert_array_equal(digests[expected], vector.astype(np.float16))
    assert sorted(digests) == list(digests)


def test_a_digest_is_the_same_on_every_machine() -> None:
    """BLAKE2b-128 of the empty message, as `b2sum -l 128 /dev/null` prints it."""
    (digest,) = embeddings.digests_of([""])
    assert digest.hex() == "cae66941d9efbd404e4d88758ea67670"


@pytest.mark.parametrize(("chunk", "least", "most"), [(500, 0, 20e6), (20_000, 41e6, 1e9)])
def test_memory_grows_with_the_texts_encoded_at_a_time_and_not_with_the_vectors(
    chunk: int, least: float, most: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20,000 vectors of width 1024 take 41 MB in half precision, 500 and their fp32 form 3 MB."""
    monkeypatch.setattr(embeddings, "CHUNK", chunk)
    texts = [str(number) for number in range(20_000)]

    def encode(batch: Sequence[str]) -> np.ndarray:
        return np.full((len(batch), 1024), int(batch[-1]) / 1024, dtype=np.float32)

    tracemalloc.start()
    kept = EmbeddingStore.write(tmp_path / "s", texts, encode, encoder="ours")
    for start in range(0, len(texts), 500):
        kept.encode(texts[start : start + 500])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert least < peak < most


def test_scores_from_half_precision_are_equal_to_a_thousandth_of_a_point(tmp_path: Path) -> None:
    """A narrow cone, as an untrained encoder has it, is the hard case: cosines near 1."""
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=384) + 0.3 * rng.normal(size=(6000, 384))).astype(np.float32)
    texts = [str(number) for number in range(6000)]
    kept = EmbeddingStore.write(tmp_path / "s", texts, lambda _: vectors, encoder="ours").encode(texts)
    assert kept.dtype == np.float16

    def cosines(rows: np.ndarray) -> np.ndarray:
        wide = rows.astype(np.float64)
        wide /= np.linalg.norm(wide, axis=1, keepdims=True)
        return (wide[:3000] * wide[3000:]).sum(axis=1)

    gold = cosines(vectors) + 0.001 * rng.normal(size=3000)
    exact, stored = (100 * spearmanr(gold, cosines(rows)).statistic for rows in (vectors, kept))
    assert exact != stored
    assert stored == pytest.approx(exact, abs=1e-3)


def test_a_text_that_is_not_kept_asks_for_the_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"1 of 2 texts .* 'a cat'.*with the model"):
        store(tmp_path / "s").encode(["a dog", "a cat"])


BAD = {
    "texts occur twice": (["a", "a"], np.ones((2, 3))),
    "expected \\[2, d\\]": (["a", "b"], np.ones((3, 3))),
    "not finite in half precision": (["a"], np.array([[1, 1e6, 1]])),
    "not finite": (["a", "b"], np.array([[1, 1, 1], [1, np.nan, 1]])),
}


@pytest.mark.parametrize("said", BAD)
def test_vectors_that_cannot_be_stored_are_refused(said: str, tmp_path: Path) -> None:
    texts, vectors = BAD[said]
    with pytest.raises(InputError, match=said):
        EmbeddingStore.write(tmp_path / "s", texts, lambda _: vectors, encoder="ours")


@pytest.mark.parametrize("kind", ["empty", "text", "folder", "weights"])
def test_a_file_without_vectors_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "other"
    if kind == "weights":
        save_file({"weight": np.ones(3)}, path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text({"empty": "", "text": "sentence1\tsentence2"}[kind])
    fault = f"{path}: (not vectors|no stored vectors).*evaluate the model again"
    with pytest.raises(InputError, match=fault):
        EmbeddingStore.load(path)


@pytest.mark.parametrize("stated", [embeddings.OPEN, "1" * 64, ""])
def test_a_store_whose_writing_was_killed_is_refused(
    stated: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All rows are there, but not the checksum, which is written last."""

    def kill(path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(embeddings, "_write_checksum", kill)
        with pytest.raises(KeyboardInterrupt):
            store(tmp_path / "killed")
    content = (tmp_path / "killed").read_bytes()
    assert embeddings.OPEN.encode() in content
    (tmp_path / "killed").write_bytes(content.replace(embeddings.OPEN.encode(), stated.ljust(64).encode()))
    with pytest.raises(InputError, match="killed: checksum mismatch"):
        EmbeddingStore.load(tmp_path / "killed")


@pytest.mark.parametrize("how", ["whole", "turned", "cut", "of another"])
def test_a_copy_has_the_same_bytes_and_a_damaged_one_is_removed_and_named(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept/one"
    keep(store(tmp_path / "written"), kept)
    whole = kept.read_bytes()
    if how == "turned":
        kept.write_bytes(whole[:-1] + b"?")
    elif how == "cut":
        kept.write_bytes(whole[:-2])
    elif how == "of another":
        EmbeddingStore.write(kept, TEXTS, lambda _: VECTORS, encoder="other")
    again = read_kept(kept, tmp_path / "again", TEXTS, encoder="ours")
    if how == "whole":
        assert again is not None
        assert again.path.read_bytes() == whole
        assert read_kept(tmp_path / "kept/two", tmp_path / "other", TEXTS, encoder="ours") is None
    else:
        assert again is None
        assert capsys.readouterr().err == f"{kept}: damaged; its vectors were computed again\n"
        assert not kept.exists()


def test_another_encoder_and_another_order_of_texts_have_another_name() -> None:
    assert len({kept_name("one", TEXTS), kept_name("two", TEXTS), kept_name("one", TEXTS[::-1])}) == 3


def test_the_least_recently_used_vectors_are_removed_first(tmp_path: Path) -> None:
    """Room for two stores: the one that was read stays, the other goes when a third comes."""
    written, kept = store(tmp_path / "written"), tmp_path / "kept"
    room = 2 * room_of(written.path)
    for name in ("a", "b"):
        keep(written, kept / name, room=room)
        os.utime(kept / name, (1, 1))
    assert read_kept(kept / "a", tmp_path / "again", TEXTS, encoder="ours") is not None
    keep(written, kept / "c", room=room)
    assert sorted(path.name for path in kept.iterdir()) == ["a", "c"]
    keep(written, kept / "d", room=room // 2 - 1)
    assert sorted(path.name for path in kept.iterdir()) == ["a", "c"], "larger than the room"


def test_a_copy_that_cannot_be_written_ends_no_evaluation(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine", encoding="utf-8")
    keep(store(tmp_path / "written"), tmp_path / "kept/one")
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "mine"
