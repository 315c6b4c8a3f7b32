"""Vectors that outlive a store: the same bytes again, the oldest first out, damage never used."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.results.embeddings import EmbeddingStore
from harness.results.kept_shards import KeptShards
from harness.results.shards import Shard

TEXTS = ["a man", "a plan", "a canal"]


def vectors_of(texts: Sequence[str]) -> np.ndarray:
    return np.random.default_rng(len(texts)).normal(size=(len(texts), 4)).astype(np.float32)


def refuses(texts: Sequence[str]) -> np.ndarray:
    raise AssertionError(f"{list(texts)} are encoded again")


def store_of(folder: Path, kept: Path, encoder: str = "one", precision: str = "float16") -> EmbeddingStore:
    return EmbeddingStore.open_or_create(folder, encoder=encoder, precision=precision, kept=kept)


def test_a_new_store_of_the_same_encoder_and_texts_has_the_same_bytes_without_encoding(
    tmp_path: Path,
) -> None:
    first = store_of(tmp_path / "first", tmp_path / "kept")
    assert first.complete(TEXTS, vectors_of) == 3
    again = store_of(tmp_path / "again", tmp_path / "kept")
    assert again.complete(TEXTS, refuses) == 0
    files = [{path.name: path.read_bytes() for path in store.folder.iterdir()} for store in (first, again)]
    assert files[0] == files[1]
    np.testing.assert_array_equal(again.encode(TEXTS), vectors_of(TEXTS).astype(np.float16))


@pytest.mark.parametrize(
    ("encoder", "precision", "texts"),
    [("two", "float16", TEXTS), ("one", "float32", TEXTS), ("one", "float16", TEXTS[::-1])],
    ids=["another encoder", "another precision", "another order, so other batches"],
)
def test_vectors_that_were_made_of_something_else_are_not_found(
    encoder: str, precision: str, texts: list[str], tmp_path: Path
) -> None:
    store_of(tmp_path / "first", tmp_path / "kept").complete(TEXTS, vectors_of)
    other = store_of(tmp_path / "other", tmp_path / "kept", encoder, precision)
    assert other.complete(texts, vectors_of) == 3
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_damaged_vectors_are_removed_and_named_and_made_again(tmp_path: Path) -> None:
    store_of(tmp_path / "first", tmp_path / "kept").complete(TEXTS, vectors_of)
    (kept,) = (tmp_path / "kept").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1] + b"?")
    again = store_of(tmp_path / "again", tmp_path / "kept")
    assert again.complete(TEXTS, vectors_of) == 3
    assert again.damaged == (kept,)
    assert kept.read_bytes() == whole


def test_what_was_not_used_for_the_longest_time_goes_first(tmp_path: Path) -> None:
    """Room for two shards: the one that was read stays, the other goes when a third comes."""
    names = {number: [f"{number} {text}" for text in TEXTS] for number in range(3)}
    shards = {
        number: Shard.write(tmp_path, f"{number}", some, vectors_of(some), "float16")
        for number, some in names.items()
    }
    kept = KeptShards(tmp_path / "kept", room=2 * shards[0].path.stat().st_size)
    (tmp_path / "store").mkdir()
    for number in (0, 1):
        kept.keep(shards[number], "p", names[number])
    for path in kept.folder.iterdir():
        os.utime(path, (1, 1))
    assert kept.copy_to(tmp_path / "store", "p", names[0])[0] is not None
    kept.keep(shards[2], "p", names[2])
    found = [kept.copy_to(tmp_path / "store", "p", some)[0] is not None for some in names.values()]
    assert found == [True, False, True]


def test_a_shard_larger_than_the_room_is_not_kept(tmp_path: Path) -> None:
    shard = Shard.write(tmp_path, "p", TEXTS, vectors_of(TEXTS), "float16")
    kept = KeptShards(tmp_path / "kept", room=shard.path.stat().st_size - 1)
    kept.keep(shard, "p", TEXTS)
    assert list(kept.folder.iterdir()) == []


def test_a_copy_that_cannot_be_written_ends_no_evaluation(tmp_path: Path) -> None:
    """A file stands where the folder of copies should be; vectors are stored, and encoded again next time."""
    (tmp_path / "kept").write_text("mine", encoding="utf-8")
    for store in ("first", "again"):
        filled = store_of(tmp_path / store, tmp_path / "kept")
        assert filled.complete(TEXTS, vectors_of) == 3
        np.testing.assert_array_equal(filled.encode(TEXTS), vectors_of(TEXTS).astype(np.float16))
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "mine"
