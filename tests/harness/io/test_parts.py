"""Clauses of reading and writing, each alone: what is refused, what is settled, in which words."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import Field, ValidationError

from harness.errors import InputError
from harness.io import embeddings, outputs
from harness.io.declarations import DeclaredModel, check_texts, folder_in, read_record, validated
from harness.io.embeddings import EmbeddingStore
from harness.io.files import discard_parts, disk_errors, sha256_of_folder, write_manifest
from harness.io.locks import alone
from harness.io.names import check_link, check_name, check_relative_path
from harness.io.records import FILE_ENDINGS, check_plain, read_manifest, read_object


@pytest.mark.parametrize("shape", [(3, 2), (1, 2), (2,), (2, 0), (2, 2, 1)])
def test_a_first_part_of_another_shape_is_refused(shape: tuple[int, ...], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"vectors of shape .* for 2 texts: expected \[2, d\]"):
        EmbeddingStore.write(tmp_path / "s", ["a", "b"], lambda _: np.ones(shape), encoder="e")


def test_a_later_part_has_the_width_of_the_first_and_rows_for_all_of_its_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "CHUNK", 2)
    for second, shown in (((1, 4), r"\[1, 4\]"), ((2, 3), r"\[2, 3\]")):
        parts = [np.ones((2, 3)), np.ones(second)]
        with pytest.raises(InputError, match=rf"shape {shown} for 1 texts: expected \[1, 3\]"):
            EmbeddingStore.write(
                tmp_path / "s", ["a", "b", "c"], lambda _, parts=parts: parts.pop(0), encoder="e"
            )


def test_rows_are_written_in_blocks_in_their_own_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven texts in blocks of three; every missing text is told in order."""
    monkeypatch.setattr(embeddings, "_ROWS", 3)
    monkeypatch.setattr(embeddings, "_HASHED", 5)
    texts = [f"text {number}" for number in range(7)]
    rows = np.arange(14, dtype=np.float32).reshape(7, 2)
    store = EmbeddingStore.write(tmp_path / "s", texts, lambda _: rows, encoder="e")
    assert store.encode(texts).tolist() == rows.tolist()
    assert EmbeddingStore.load(tmp_path / "s").encode(texts[::-1]).tolist() == rows[::-1].tolist()
    assert store.missing(["zz", "text 3", "", "text 6", "a"]) == ["zz", "", "a"]
    with pytest.raises(InputError, match="1 texts occur twice"):
        EmbeddingStore.write(tmp_path / "t", ["a", "b", "a"], lambda _: rows, encoder="e")
    with pytest.raises(InputError, match=r"^no texts$"):
        EmbeddingStore.write(tmp_path / "t", [], lambda _: rows, encoder="e")


def test_room_for_a_store_is_asked_before_any_text_is_encoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """16 bytes of a digest and 1,024 half numbers for each of three texts, and the least room."""
    asked: list[Any] = []
    monkeypatch.setattr(embeddings, "check_addition", lambda folder, *, room: asked.append((folder, room)))

    def encode(texts: Any) -> np.ndarray:
        asked.append("encoded")
        return np.ones((3, 2))

    EmbeddingStore.write(tmp_path / "s", ["a", "b", "c"], encode, encoder="e")
    assert asked == [(tmp_path, 2**20 + 3 * (16 + 2048)), "encoded"]


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        *[(name, True) for name in ("a", "0", "a-b_c9", "una")],
        *[(name, False) for name in ("", "-a", "_a", "A", "a b", "a.b", "a/b", "..", "a\n", "ü")],
    ],
)
def test_a_name_has_lower_case_letters_digits_and_two_signs(name: str, taken: bool) -> None:
    if taken:
        assert check_name(name) == name
    else:
        with pytest.raises(ValueError, match="expected a name of lower-case letters"):
            check_name(name)


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        *[(path, True) for path in ("a", "a/b.txt", "a..b", ".a/b", "a/...")],
        *[(path, False) for path in ("", "/a", "..", "a/../b", "a\0b")],
    ],
)
def test_a_relative_path_stays_below_its_folder(path: str, taken: bool) -> None:
    if taken:
        assert check_relative_path(path) == path
    else:
        with pytest.raises(ValueError, match="expected a relative path without"):
            check_relative_path(path)


@pytest.mark.parametrize(
    ("address", "taken"),
    [
        *[(f"https://a-b.example{rest}", True) for rest in ("", ":8080", "/")],
        ("https://a-b.example/x/y_z?a=1&b=%20#c,d;e:@!(f)~-+", True),
        *[(address, False) for address in ("http://a.b", "https://", "javascript:x", "https://a.b/\"x", "")],
        *[(address, False) for address in ("https://a.b/<x>", "https://a.b/x y", "https://a.b/é")],
        *[(address, False) for address in ("https://a.b:x/",)],
        *[(address, False) for address in (" https://a.b", "https://a.b/\n", "https://a.b'x")],
    ],
)  # fmt: skip
def test_a_link_is_an_address_without_quotes(address: str, taken: bool) -> None:
    if taken:
        assert check_link(address) == address
    else:
        with pytest.raises(ValueError, match="expected an address that begins with https"):
            check_link(address)


def test_a_folder_of_the_plan_is_in_one_of_its_rooms() -> None:
    check: Any = folder_in("data", "corpora").func
    assert check("data/stsb") == "data/stsb"
    for path in ("stsb", "backbones/a", "data/", "data/a/b", "data/..", "/data/a", "data"):
        with pytest.raises(ValueError, match="expected"):
            check(path)


class Inner(DeclaredModel):
    size: float
    names: dict[str, int] = Field(default_factory=dict)


class Value(DeclaredModel):
    count: int
    inner: Inner
    link: str = ""


GOOD: dict[str, Any] = {"count": 1, "inner": {"size": 0.5}}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"count": "1"}, 'w: count is "1": input should be a valid integer; write 3.0e-5, YAML reads 3e-5'),
        ({"count": "x"}, 'w: count is "x": input should be a valid integer; correct it'),
        ({"count": 1.5}, "w: count is 1.5: input should be a valid integer"),
        ({"count": True}, "w: count is true: input should be a valid integer"),
        ({"inner": {"size": float("nan")}}, "w: inner.size is NaN: input should be a finite number"),
        ({"inner": {}}, "w: inner.size: missing required key"),
        ({"more": 1}, "w: unknown key more"),
        ({"inner": {"size": 1.0, "more": 2}}, "w: unknown key inner.more"),
        (
            {"inner": {"size": 1.0, "names": {3: 1}}},
            "w: key 3 of inner.names: input should be a valid string",
        ),
        ({"inner": {"size": 10**5000}}, "w: inner.size is a int that is too long to print: "),
        ({"count": "y" * 200}, 'w: count is "' + "y" * 79 + ": "),
    ],
)
def test_the_first_problem_is_one_line_with_key_value_and_advice(change: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as caught:
        validated(Value, {**GOOD, **change}, where="w")
    assert str(caught.value).startswith(line)
    made = validated(Value, GOOD, where="w")
    with pytest.raises(ValidationError, match="frozen"):
        made.count = 2  # type: ignore[misc]


def test_texts_of_a_record_have_no_control_characters_at_any_depth(tmp_path: Path) -> None:
    for raw in ("a\x07", ["a", ["b\x1b"]], {"a": {"b\x00": 1}}, {"a": ("x", "\u202e")}):
        with pytest.raises(InputError, match=r"w: character .* is not allowed in a text"):
            check_texts(raw, where="w")
    check_texts(["a b", {"ü": ["\u00a0", 1, None]}], where="w")
    path = tmp_path / "a.json"
    path.write_text('{"count": 1, "inner": {"size": 1.0}, "link": "\\u001b"}')
    with pytest.raises(InputError, match=r"a\.json: character .* is not allowed"):
        read_record(path, Value)
    path.write_bytes(b'{"count": 1, "inner": {"size": 1.0}, "link": "\xff"}')
    with pytest.raises(InputError, match=r"a\.json: byte 46 is not UTF-8"):
        read_record(path, Value)


def test_a_manifest_lists_every_file_and_each_change_is_named(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a", "in/b"):
        (tmp_path / name).write_text(name)
    write_manifest(tmp_path / "r.json", {"key": 1})
    assert {*read_manifest(tmp_path / "r.json", "key", again="again")["files"]} == {"a", "in/b"}
    (tmp_path / "in/b").unlink()
    with pytest.raises(InputError, match=r"in/b: no such file, the file is damaged; again"):
        read_manifest(tmp_path / "r.json", again="again")
    for files in ('"a"', '["a"]', '{"a": 1}', '{"a": {"sha256": null}}'):
        (tmp_path / "r.json").write_text(f'{{"files": {files}}}')
        with pytest.raises(InputError, match="`files` must be a table of files; again"):
            read_manifest(tmp_path / "r.json", again="again")
    (tmp_path / "r.json").write_text('{"a": 1}')
    with pytest.raises(InputError, match="not a JSON object with b, c; again"):
        read_object(tmp_path / "r.json", "a", "b", "c", again="again")
    with pytest.raises(InputError, match="in: not a regular file; again"):
        read_object(tmp_path / "in", again="again")
    with pytest.raises(InputError, match="none: no such file; again"):
        read_object(tmp_path / "none", again="again")


@pytest.mark.parametrize("ending", sorted(FILE_ENDINGS))
def test_a_folder_with_the_name_of_a_file_is_named(ending: str, tmp_path: Path) -> None:
    (tmp_path / "in/model").mkdir(parents=True)
    check_plain(tmp_path, again="again")
    (tmp_path / f"in/x{ending}").mkdir()
    with pytest.raises(InputError, match=rf"in/x\{ending}: is a folder; again"):
        check_plain(tmp_path, again="again")
    check_plain(tmp_path, again="again", pattern="*.none")
    assert {*FILE_ENDINGS} >= {
        ".json",
        ".jsonl",
        ".tsv",
        ".csv",
        ".txt",
        ".npy",
        ".safetensors",
        ".model",
        ".yaml",
    }


def test_parts_of_one_file_are_removed_and_no_others(tmp_path: Path) -> None:
    for name in (".a.txt.1.part", ".a.txt.22.part", ".ab.txt.1.part", "a.txt", ".a.txt.part", "a.txt.1.part"):
        (tmp_path / name).touch()
    discard_parts(tmp_path / "a.txt")
    left = {".ab.txt.1.part", "a.txt", ".a.txt.part", "a.txt.1.part"}
    assert {*os.listdir(tmp_path)} == left
    (tmp_path / ".x.1.part").touch()
    discard_parts(tmp_path / "*")
    assert (tmp_path / ".x.1.part").exists(), "signs of a pattern in a name are signs"


@pytest.mark.parametrize("aim", ["missing", "file", "folder"])
def test_a_link_is_removed_and_what_it_names_stays(aim: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    link = tmp_path / ".a.1.part"
    link.symlink_to(tmp_path / aim)
    discard_parts(tmp_path / "a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_a_refused_write_of_a_library_is_an_error_of_the_system(tmp_path: Path) -> None:
    class SafetensorError(Exception):
        pass

    for error, number in (
        (SafetensorError("I/O error: No space left on device (os error 28)"), 28),
        (RuntimeError("[enforce fail at inline_container.cc:595] ."), 5),
    ):
        with pytest.raises(OSError, match=r".") as caught, disk_errors(tmp_path):
            raise error
        assert (caught.value.errno, caught.value.filename) == (number, str(tmp_path))
    for other in (SafetensorError("a header"), RuntimeError("shapes"), ValueError("(os error 28)")):
        with pytest.raises(type(other)), disk_errors(tmp_path):
            raise other


def test_the_hash_of_a_folder_does_not_confuse_names_with_bytes(tmp_path: Path) -> None:
    hashes = set()
    for number, files in enumerate(
        ({"a/b": "x"}, {"a": "b/x"}, {"ab": "x"}, {"a/b": "x", "c": ""}, {"a/b": "y"})
    ):
        for name, text in files.items():
            path = tmp_path / str(number) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        hashes.add(sha256_of_folder(tmp_path / str(number)))
    assert len(hashes) == 5


def test_a_lock_is_of_one_work_and_names_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.io.locks.cache", lambda: tmp_path)
    with alone("one"), alone("two"):
        with pytest.raises(InputError, match=r"^one: already running in another process$"), alone("one"):
            pass
        with pytest.raises(InputError, match=r"^a name: already running"), alone("two", shown="a name"):
            pass
    with alone("one"):
        pass
    assert len(os.listdir(tmp_path / "locks")) == 2


@pytest.mark.parametrize(
    ("umask", "file", "folder"), [(0o022, 0o644, 0o755), (0o077, 0o600, 0o700), (0o002, 0o664, 0o775)]
)
def test_outputs_have_the_users_permissions(
    umask: int, file: int, folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "UMASK", umask)
    with outputs.new_outputs({tmp_path / "a": None, tmp_path / "b": "files.json"}) as parts:
        parts[tmp_path / "a"].write_text("x")
        (parts[tmp_path / "b"] / "in").write_text("x")
    assert (tmp_path / "a").stat().st_mode & 0o777 == file
    assert (tmp_path / "b").stat().st_mode & 0o777 == folder
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
    assert outputs.room_of(tmp_path / "a") == 2**20 + 1
