"""Atomic writes: no partial file is ever visible."""

import hashlib
import json
import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from harness.io.files import atomic_path, sha256_of, sha256_of_folder, write_json, write_text
from methods.core import files


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "old")
    with suppress(RuntimeError), atomic_path(tmp_path / "a") as part:
        part.write_text("new")
        raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_json_has_one_form_and_no_nan(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"b": 1, "a": [0.5]})
    write_json(tmp_path / "b.json", {"a": [0.5], "b": 1})
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert json.loads((tmp_path / "a.json").read_text()) == {"a": [0.5], "b": 1}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "c.json", {"a": float("nan")})
    assert not (tmp_path / "c.json").exists()


def test_the_hash_of_a_folder_sees_names_and_bytes(tmp_path: Path) -> None:
    for name, text in (("one", "x"), ("two", "x"), ("three", "y")):
        write_text(tmp_path / name / "f", text)
    marks = [sha256_of_folder(tmp_path / name) for name in ("one", "two", "three")]
    assert marks[0] == marks[1] != marks[2]
    (tmp_path / "two/f").rename(tmp_path / "two/g")
    assert sha256_of_folder(tmp_path / "two") != marks[0]


@pytest.mark.parametrize("settled", [0, files.SETTLED])
def test_a_file_is_hashed_again_when_it_changed_though_its_size_and_time_are_as_before(
    settled: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A settled file is read once; bytes written in place later are seen by the time of its entry."""
    monkeypatch.setattr(files, "SETTLED", settled)
    path = tmp_path / "a"
    path.write_text("one")
    first = sha256_of(path)
    before = path.stat()
    path.write_text("two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert sha256_of(path) == hashlib.sha256(b"two").hexdigest() != first


def test_a_file_is_complete_with_its_permissions_before_it_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill after the exchange leaves a file that others can read, as far as the umask allows."""
    seen: list[tuple[int, str]] = []
    replace = os.replace

    def replaced(part: Path, path: Path) -> None:
        seen.append((stat.S_IMODE(os.stat(part).st_mode), Path(part).read_text()))
        replace(part, path)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", replaced)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "a", "words")
    (tmp_path / "plain").touch()
    expected = (stat.S_IMODE((tmp_path / "plain").stat().st_mode), "words")
    assert seen == [expected]
    assert (stat.S_IMODE((tmp_path / "a").stat().st_mode), (tmp_path / "a").read_text()) == expected
