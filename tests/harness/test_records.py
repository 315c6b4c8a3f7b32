"""Folders between stages: whole as they were written, or refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.disk.layouts import check_inputs, read_artefact
from harness.disk.records import read_manifest, read_object, write_manifest
from harness.errors import InputError
from methods.core.files import write_record


@pytest.fixture
def artefact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An artefact of three files below artefacts/ of the current folder."""
    monkeypatch.chdir(tmp_path)
    folder = Path("artefacts/a__b__s0")
    (folder / "last").mkdir(parents=True)
    for name in ("model.safetensors", "train.jsonl", "last/model.safetensors"):
        (folder / name).write_bytes(name.encode() * 3)
    write_manifest(folder / "run.json", {"key": "a__b__s0", "selection": {}})
    return folder


def test_a_whole_artefact_is_read_with_its_description(artefact: Path) -> None:
    assert read_artefact(artefact)["key"] == "a__b__s0"
    check_inputs(str(artefact))


@pytest.mark.parametrize("name", ["model.safetensors", "train.jsonl", "last/model.safetensors"])
@pytest.mark.parametrize("damage", ["one bit", "truncated", "emptied", "gone", "folder"])
def test_a_file_that_training_did_not_write_is_one_line(artefact: Path, name: str, damage: str) -> None:
    path = artefact / name
    content = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "gone":
        changed = {
            "one bit": bytes([content[0] ^ 1]) + content[1:],
            "truncated": content[:-1],
            "emptied": b"",
        }
        path.write_bytes(changed[damage])
    with pytest.raises(InputError, match=f"{name}: .*train the run again") as caught:
        read_artefact(artefact)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="train the run again"):
        check_inputs(str(artefact))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": "a"}'])
def test_a_description_that_is_none_is_one_line(artefact: Path, text: str) -> None:
    (artefact / "run.json").write_text(text)
    with pytest.raises(InputError, match=r"run\.json: .*train the run again"):
        read_artefact(artefact)


def test_a_changed_character_of_a_record_is_noticed_and_the_checksum_is_no_entry(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_record(path, {"key": "a", "seed": 3})
    assert read_object(path, "key", again="again") == {"key": "a", "seed": 3}
    path.write_text(path.read_text().replace("3", "4", 1))
    with pytest.raises(InputError, match=r"not the content that its checksum states.*again"):
        read_object(path, "key", again="again")


def test_a_record_of_an_older_release_without_a_checksum_is_read(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"key": "a"}')
    assert read_manifest(tmp_path / "run.json", "key", again="again") == {"key": "a"}


@pytest.mark.parametrize("files", [[], "x", {"a": 3}, {"a": {"rows": 3}}, {"a": None}])
def test_a_table_of_files_that_is_none_is_one_line(tmp_path: Path, files: object) -> None:
    write_record(tmp_path / "source.json", {"files": files})
    with pytest.raises(InputError, match=r"source\.json: `files` is no table of files.*again"):
        read_manifest(tmp_path / "source.json", again="again")


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
    with pytest.raises(InputError, match=r"rows\.tsv: other bytes than were written"):
        check_inputs(str(folder))
