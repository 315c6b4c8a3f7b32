"""Arrays that are kept by their content: made once, made again if damaged, never half there."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from methods.core import corpus, files
from methods.core.corpus import kept_array, key_of, pieces_of
from methods.core.errors import InputError
from methods.core.files import (
    atomic_path,
    changed_file,
    file_hashes,
    has_own_digest,
    make_readable,
    read_whole,
    sha256_of,
    with_digest,
    write_json,
    write_manifest,
)
from methods.una import terms

WHOLE = np.arange(5, dtype=np.int32)


def making(calls: list[int]) -> Any:
    def make() -> np.ndarray:
        calls.append(1)
        return WHOLE

    return make


def test_an_array_is_made_once_in_a_folder_that_need_not_be_there(tmp_path: Path) -> None:
    calls: list[int] = []
    folder = tmp_path / "new/deep/pieces"
    for _ in range(2):
        kept = kept_array(folder, "key", making(calls))
        assert kept.tolist() == WHOLE.tolist()
        assert type(kept) is np.ndarray
        assert not kept.flags.writeable
    assert len(calls) == 1
    kept_array(folder, "other", making(calls))
    assert len(calls) == 2
    assert {path.name for path in folder.iterdir()} >= {"key.npy", "key.json", "other.npy", "other.json"}


def test_who_has_waited_for_an_array_takes_that_of_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other makes it while this one waits for the lock."""
    calls: list[int] = []
    lock = corpus.FileLock
    waited = []

    class Late(lock):  # type: ignore[misc, valid-type]
        def acquire(self, *given: Any, **named: Any) -> Any:
            if not waited:
                waited.append(1)
                with monkeypatch.context() as other:
                    other.setattr(corpus, "FileLock", lock)
                    kept_array(tmp_path, "key", making(calls))
            return super().acquire(*given, **named)

    monkeypatch.setattr(corpus, "FileLock", Late)
    assert kept_array(tmp_path, "key", making(calls)).tolist() == WHOLE.tolist()
    assert (waited, calls) == ([1], [1])


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "key.npy").unlink(),
        lambda folder: (folder / "key.json").unlink(),
        lambda folder: (folder / "key.json").write_text("{}"),
        lambda folder: (folder / "key.json").write_text("{"),
        lambda folder: (folder / "key.json").write_text('{"files": {}}'),
        lambda folder: (folder / "key.npy").write_bytes(b""),
        lambda folder: (folder / "key.npy").write_bytes((folder / "key.npy").read_bytes()[:-1] + b"x"),
    ],
)
def test_a_damaged_array_is_made_again(tmp_path: Path, damage: Any) -> None:
    calls: list[int] = []
    kept_array(tmp_path, "key", making(calls))
    whole = (tmp_path / "key.npy").read_bytes()
    damage(tmp_path)
    assert kept_array(tmp_path, "key", making(calls)).tolist() == WHOLE.tolist()
    assert len(calls) == 2
    assert (tmp_path / "key.npy").read_bytes() == whole


@pytest.mark.parametrize("ends", [KeyboardInterrupt(), OSError(28, "full")])
@pytest.mark.parametrize("where", ["make", "array", "record"])
def test_an_interrupted_array_leaves_nothing_that_is_read(
    tmp_path: Path, ends: BaseException, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*given: Any, **named: Any) -> Any:
        raise ends

    with monkeypatch.context() as patched:
        if where == "array":
            patched.setattr(np.lib.format, "write_array_header_1_0", stop)
        if where == "record":
            patched.setattr(corpus, "write_record", stop)
        with pytest.raises(type(ends)):
            kept_array(tmp_path, "key", stop if where == "make" else making([]))
    left = {path.name for path in tmp_path.iterdir()} - {"key.lock"}
    assert left == ({"key.npy"} if where == "record" else set())
    calls: list[int] = []
    assert kept_array(tmp_path, "key", making(calls)).tolist() == WHOLE.tolist()
    assert calls == [1]


@pytest.mark.parametrize("chunk", [1, 2, 3, 100])
def test_pieces_and_keys_are_those_of_all_texts_at_any_chunk(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["a", "bb", "", "\ud800ccc", "dd"]
    encoder: Any = SimpleNamespace(
        piece_folder=None,
        token_ids=lambda some, *, max_length: [[len(text)] * (max_length - 1) for text in some],
        tokenizer_state=lambda length: "",
    )
    key = key_of(texts, "made")
    monkeypatch.setattr(corpus, "CHUNK", chunk)
    pieces = pieces_of(encoder, texts, 3)
    assert [pieces.ids(row).tolist() for row in range(5)] == [[1, 1], [2, 2], [0, 0], [4, 4], [2, 2]]
    assert pieces.ids(4).dtype == np.int32
    assert key_of(texts, "made") == key


@pytest.mark.parametrize(
    ("texts", "made_by"),
    [(["ab", "c"], "m"), (["a", "bc", ""], "m"), (["bc", "a"], "m"), (["a", "bC"], "m"), (["a", "bc"], "n")],
)
def test_another_text_border_order_or_computation_has_another_key(texts: list[str], made_by: str) -> None:
    assert key_of(["a", "bc"], "m") == key_of(["a", "bc"], "m")
    assert key_of(texts, made_by) != key_of(["a", "bc"], "m")


@pytest.mark.parametrize("changed", [None, "version", "sha256_of"])
def test_words_are_split_anew_with_another_library_or_another_code(
    tmp_path: Path, changed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["the cat sat", "a dog"]
    first = terms.words_of(texts, tmp_path)
    assert first.terms == ["the", "cat", "sat", "a", "dog"]
    assert first.ends.tolist() == [0, 3, 5]
    if changed:
        monkeypatch.setattr(terms, changed, lambda what: "another")
    split: list[Any] = []
    made = terms._split
    monkeypatch.setattr(terms, "_split", lambda texts: (split.append(1), made(texts))[1])
    again = terms.words_of(texts, tmp_path)
    assert again.flat.tolist() == first.flat.tolist()
    assert len(split) == (1 if changed else 0)
    terms.words_of(texts[::-1], tmp_path)
    assert len(split) == (2 if changed else 1)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "UMASK", 0o027)
    path = tmp_path / "deep/a.json"
    write_json(path, {"b": 1, "a": "é"})
    assert path.read_text(encoding="utf-8") == '{\n "a": "é",\n "b": 1\n}\n'
    assert path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, float("nan"))

    def stopped() -> None:
        with atomic_path(path) as part:
            assert part.parent == path.parent
            assert part.name.startswith(".a.json.")
            assert part.name.endswith(".part")
            part.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert path.read_text(encoding="utf-8").startswith("{")
    assert [*path.parent.iterdir()] == [path]


def test_private_weights_become_readable_and_links_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "UMASK", 0o022)
    (tmp_path / "model/deep").mkdir(parents=True)
    weights, outside = tmp_path / "model/deep/weights", tmp_path / "outside"
    for path in (weights, outside):
        path.touch(mode=0o600)
    (tmp_path / "model/link").symlink_to(outside)
    make_readable(tmp_path / "model")
    assert [path.stat().st_mode & 0o777 for path in (weights, outside)] == [0o644, 0o600]


def test_a_record_notices_every_change(tmp_path: Path) -> None:
    made = with_digest({"a": 1, "digest": "old"})
    assert has_own_digest(made)
    assert with_digest(made) == made
    for changed in ({**made, "a": 2}, {**made, "b": 1}, {"a": 1}, {"digest": made["digest"]}):
        assert not has_own_digest(changed)
    path = tmp_path / "record.json"
    for content, known in ((made, True), ({**made, "a": 2}, False), ([made], False), ("x", False)):
        write_json(path, content)
        assert (read_whole(path) == made) is known
        assert known or read_whole(path) is None
    for damaged in (b"{", b"\xff", b"[" * 100_000):
        path.write_bytes(damaged)
        assert read_whole(path) is None
    assert read_whole(tmp_path / "none") is None
    assert read_whole(tmp_path) is None


def test_a_manifest_has_every_other_file_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("one", "deep/two"):
        (tmp_path / name).write_text(name)
    for _ in range(2):  # its own old hash is not part of it
        write_manifest(tmp_path / "made.json", {"rows": 3})
    record = read_whole(tmp_path / "made.json")
    assert record is not None
    assert record["rows"] == 3
    assert record["files"] == {name: sha256_of(tmp_path / name) for name in ("one", "deep/two")}
    assert changed_file(tmp_path, record["files"]) is None
    (tmp_path / "deep/two").write_text("TWO")
    assert changed_file(tmp_path, record["files"]) == tmp_path / "deep/two"
    (tmp_path / "one").unlink()
    assert changed_file(tmp_path, {"one": "x"}) == tmp_path / "one"
    assert file_hashes(tmp_path).keys() == {"deep/two", "made.json"}


@pytest.mark.parametrize(("age", "reads"), [(999_999_999, 2), (1_000_000_001, 1)])
def test_a_file_that_was_written_a_moment_ago_is_read_each_time(
    tmp_path: Path, age: int, reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two writes within a moment may have equal times."""
    path = tmp_path / "file"
    path.write_text("one")
    status = path.stat()
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    monkeypatch.setattr(files.time, "time_ns", lambda: newest + age)
    digest, seen = files.hashlib.file_digest, list[int]()
    monkeypatch.setattr(files.hashlib, "file_digest", lambda *given: (seen.append(1), digest(*given))[1])
    assert sha256_of(path) == sha256_of(path)
    assert len(seen) == reads


@pytest.mark.parametrize("field", ["st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns"])
def test_a_file_is_read_again_if_any_part_of_its_status_has_changed(
    field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy may keep the date and the size of the file that it replaces."""
    path = tmp_path / "file"
    path.write_text("one")
    names = ("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")
    status = {name: getattr(path.stat(), name) for name in names}
    monkeypatch.setattr(files.time, "time_ns", lambda: status["st_mtime_ns"] + 10**12)
    monkeypatch.setattr(files.os, "fstat", lambda handle: SimpleNamespace(**status))
    known = sha256_of(path)
    path.write_text("two")
    assert sha256_of(path) == known
    status[field] += 1
    assert sha256_of(path) != known


def test_a_corpus_with_too_few_augmentations_names_the_row() -> None:
    from methods.core.rows import Row

    rows = [Row(4, "a", ("b", "c")), Row(9, "a", ("b",))]
    assert corpus.texts_of(rows, 1) == ["b", "b"]
    with pytest.raises(
        InputError, match="row 9 of the corpus has 1 augmentations, expected at least 2 in ev"
    ):
        corpus.texts_of(rows, 2)


def test_the_users_permissions_are_read_and_not_changed() -> None:
    current = os.umask(0o077)
    os.umask(current)
    assert current == files.UMASK


def test_a_written_file_is_closed(tmp_path: Path) -> None:
    def held() -> int:
        return len(os.listdir("/proc/self/fd"))

    write_json(tmp_path / "a.json", 1)
    before = held()
    for _ in range(5):
        write_json(tmp_path / "a.json", 1)
    assert held() == before
