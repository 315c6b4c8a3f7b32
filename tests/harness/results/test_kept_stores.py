"""Vectors that outlive a store: the same bytes again, the oldest first out, damage never used."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from harness.disk.outputs import room_of
from harness.results.embeddings import EmbeddingStore, keep, kept_name, read_kept

TEXTS = ["a man", "a plan", "a canal"]


@pytest.fixture
def written(tmp_path: Path) -> EmbeddingStore:
    vectors = np.random.default_rng(0).normal(size=(3, 4))
    return EmbeddingStore.write(tmp_path / "written", TEXTS, lambda _: vectors, encoder="one")


def test_a_copy_has_the_same_bytes(written: EmbeddingStore, tmp_path: Path) -> None:
    keep(written, tmp_path / "kept/one")
    again = read_kept(tmp_path / "kept/one", tmp_path / "again", TEXTS)
    assert again is not None
    files = [{path.name: path.read_bytes() for path in store.folder.iterdir()} for store in (written, again)]
    assert files[0] == files[1]
    assert read_kept(tmp_path / "kept/two", tmp_path / "other", TEXTS) is None


def test_another_encoder_and_another_order_of_texts_have_another_name() -> None:
    names = {kept_name("one", TEXTS), kept_name("two", TEXTS), kept_name("one", TEXTS[::-1])}
    assert len(names) == 3


@pytest.mark.parametrize("how", ["turned", "lost"])
def test_damaged_vectors_are_removed_and_named(
    how: str, written: EmbeddingStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept/one"
    keep(written, kept)
    (shard,) = kept.glob("*.npy")
    if how == "turned":
        shard.write_bytes(shard.read_bytes()[:-1] + b"?")
    else:
        shard.unlink()
    assert read_kept(kept, tmp_path / "again", TEXTS) is None
    assert capsys.readouterr().err == f"{kept}: damaged, expected whole vectors; they were made again\n"
    assert not kept.exists()


def test_what_was_not_used_for_the_longest_time_goes_first(written: EmbeddingStore, tmp_path: Path) -> None:
    """Room for two stores: the one that was read stays, the other goes when a third comes."""
    kept, room = tmp_path / "kept", 2 * room_of(written.folder)
    for name in ("a", "b"):
        keep(written, kept / name, room=room)
        os.utime(kept / name, (1, 1))
    assert read_kept(kept / "a", tmp_path / "again", TEXTS) is not None
    keep(written, kept / "c", room=room)
    assert sorted(path.name for path in kept.iterdir()) == ["a", "c"]
    keep(written, kept / "d", room=room // 2 - 1)
    assert sorted(path.name for path in kept.iterdir()) == ["a", "c"], "larger than the room"


def test_a_copy_that_cannot_be_written_ends_no_evaluation(written: EmbeddingStore, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine", encoding="utf-8")
    keep(written, tmp_path / "kept/one")
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "mine"
