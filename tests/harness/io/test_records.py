"""Folders between stages: unchanged, or refused in one line."""

from pathlib import Path

import pytest

from harness.errors import InputError
from harness.io.files import write_manifest
from harness.io.layouts import check_inputs
from harness.io.records import read_manifest, read_object
from methods.core.files import write_record


def test_a_changed_character_of_a_record_is_noticed_and_the_checksum_is_no_entry(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_record(path, {"key": "a", "seed": 3})
    assert read_object(path, "key", again="again") == {"key": "a", "seed": 3}
    path.write_text(path.read_text().replace("3", "4", 1))
    with pytest.raises(InputError, match=r"checksum mismatch.*again"):
        read_object(path, "key", again="again")


def test_a_record_of_an_older_release_without_a_checksum_is_read(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"key": "a"}')
    assert read_manifest(tmp_path / "run.json", "key", again="again") == {"key": "a"}


@pytest.mark.parametrize(
    ("room", "record"),
    [
        ("corpora", "corpus.json"),
        ("backbones", "backbone.json"),
        ("data", "source.json"),
        ("x", "source.json"),
    ],
)
def test_a_changed_file_of_any_room_is_refused_before_a_stage_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: str, record: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path(room, "a")
    folder.mkdir(parents=True)
    (folder / "rows.tsv").write_text("a\n")
    write_manifest(folder / record, {})
    check_inputs(str(folder))
    (folder / "rows.tsv").write_text("b\n")
    with pytest.raises(InputError, match=r"rows\.tsv: changed, the file is damaged"):
        check_inputs(str(folder))
